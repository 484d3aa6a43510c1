/** Lists of companies: with search and filter, or only those that need attention. Read page by page. */
import { counted } from '../../../domain/text/sentences';
import { companyDecisions, openAction } from '../decisions/actions';
import { stateLabel, type Company, type CompanyFilter } from '../../client/api';
import { offeredRemedies, otherHelp } from '../../client/remedies';
import { readCompanies, canDecide, type App } from '../app';
import { problemText, sentence } from '../elements/dialog';
import {
  announce,
  button,
  buttonRow,
  copyButton,
  el,
  externalLink,
  fill,
  hint,
  paragraph,
  type Child,
} from '../elements/elements';
import { inReadersZone, shortTime } from '../elements/times';

/** A list that can be read again when the migration has changed. */
export interface CompanyList {
  readonly update: () => Promise<void>;
  /** Reads the first companies again. */
  readonly restart: () => Promise<void>;
  /** Clears the selection. */
  readonly clear: () => void;
}

export interface ListOptions {
  readonly app: App;
  readonly container: HTMLElement;
  /** The elements above the list. */
  readonly head: readonly Child[];
  readonly filter: () => CompanyFilter;
  /** Returns the text for an empty list. */
  readonly empty: () => string;
  /** Called with the shown companies, and whether there are more, whenever all rows have been rendered. */
  readonly onShow?: (companies: readonly Company[], hasMore: boolean) => void;
}

export function createCompanyList({ app, container, head, filter, empty, onShow }: ListOptions): CompanyList {
  const selected = new Map<string, Company>();
  let shown: readonly Company[] = [];
  let hasMore = false;
  let generation = 0;
  /** The decisions that the rows offer. */
  let offered = '';
  const list = el('ul', { class: 'companies' });
  const more = button('Show more', () => void load(shown.length + 50));
  const note = el('p', { class: 'hint list-note', role: 'status' });
  const changed = button('Update the list', () => void load(shown.length), { class: 'small' });
  const selection = el('div', { class: 'selection', role: 'region', 'aria-label': 'Selected companies', hidden: true });
  changed.hidden = true;
  fill(container, [...head, el('div', { class: 'list-state' }, note, changed), list, paragraph(more), selection]);

  /** Reads the first `count` companies, or 50 if that is more. Reads up to 500 at a time. */
  async function read(count: number): Promise<{ readonly companies: readonly Company[]; readonly hasMore: boolean }> {
    const companies: Company[] = [];
    for (;;) {
      const limit = Math.min(500, Math.max(50, count) - companies.length);
      const page = await readCompanies({ ...filter(), after: companies.at(-1)?.row ?? 0, limit });
      companies.push(...page.companies);
      if (!page.hasMore || companies.length >= count) return { companies, hasMore: page.hasMore };
    }
  }

  async function load(count: number): Promise<void> {
    const mine = ++generation;
    try {
      const page = await read(count);
      if (mine === generation) show(page);
    } catch (error) {
      note.textContent = problemText(error);
    }
  }

  function show(page: { readonly companies: readonly Company[]; readonly hasMore: boolean }): void {
    const focusedId = list.contains(document.activeElement) ? document.activeElement?.id : undefined;
    shown = page.companies;
    hasMore = page.hasMore;
    offered = offeredBy(app);
    list.replaceChildren(...shown.map(row));
    if (focusedId) document.getElementById(focusedId)?.focus();
    more.hidden = !hasMore;
    changed.hidden = true;
    onShow?.(shown, hasMore);
    note.textContent =
      shown.length === 0 ? empty() : `${counted(shown.length, 'company')} shown${hasMore ? '; there are more' : ''}.`;
  }

  /**
   * Reads the rows again and shows them. While a person is using the list, rows must not move. In this case, the
   * function changes only rows whose height stays the same, and shows a button that updates the rest of the list.
   */
  async function update(): Promise<void> {
    const mine = generation;
    const page = await read(shown.length).catch(() => null);
    if (page === null || mine !== generation) return;
    if (shown.length === 0) note.textContent = empty();
    const isOffered = offered === offeredBy(app);
    if (isOffered && JSON.stringify(page.companies) === JSON.stringify(shown)) return;
    if (!isInUse()) return show(page);
    const known = new Map(page.companies.map((company) => [company.row, company]));
    shown = shown.map((company, index) => {
      const newer = known.get(company.row);
      if (newer === undefined || layoutOf(newer) !== layoutOf(company)) return company;
      if (JSON.stringify(newer) !== JSON.stringify(company)) replaceRow(index, newer);
      return newer;
    });
    changed.hidden = isOffered && JSON.stringify(shown) === JSON.stringify(page.companies);
    if (!changed.hidden) note.textContent = 'The list has changed.';
  }

  function replaceRow(index: number, company: Company): void {
    const old = list.children[index];
    const focused = old?.contains(document.activeElement) ? document.activeElement?.id : '';
    old?.replaceWith(row(company));
    if (focused) document.getElementById(focused)?.focus();
  }

  /** Also true if a row of the other list is selected, because new rows in one list can move the other list. */
  const isInUse = (): boolean =>
    list.contains(document.activeElement) || list.matches(':hover') || document.querySelector(SELECTED) !== null;

  function row(company: Company): HTMLElement {
    const { reference, name, state, movedAt, confirmedAt, wave, problem, remedies, linkUrl } = company;
    const id = `${container.id}-${company.row}`;
    const decisions = problem === null ? [] : companyDecisions(app, [company]);
    return el(
      'li',
      {},
      canDecide(app) &&
        el('input', {
          ...{ type: 'checkbox', id, checked: selected.has(reference), 'aria-label': `Select ${name}` },
          onchange: ({ target }) => select(company, (target as HTMLInputElement).checked),
        }),
      el(
        'div',
        { class: 'company' },
        el('p', { class: 'name' }, el('strong', {}, name), el('span', { class: 'reference' }, reference)),
        el(
          'p',
          { class: 'about' },
          el('span', { class: `chip ${state}` }, stateLabel(state, app.view().state)),
          movedAt !== null && el('span', { class: 'hint' }, shortTime(movedAt)),
          wave !== null && el('span', { class: 'hint' }, `wave ${wave}`),
          movedAt === null && confirmedAt !== null && el('span', { class: 'hint' }, 'confirmed: syncing is off'),
        ),
        problem !== null && el('p', { class: 'why' }, sentence(inReadersZone(problem))),
        linkUrl !== null &&
          el('p', { class: 'link' }, externalLink(linkUrl, 'Reconnect page'), copyButton(linkUrl, 'Copy link', name)),
        problem !== null && remedies.length > 0 && app.view().next !== null && hint(helpOf(app, company)),
        decisions.length > 0 &&
          el(
            'p',
            { class: 'buttons' },
            ...decisions.map((action) =>
              button(action.title, () => openAction(app, action, [company]), {
                class: 'small',
                'aria-label': `${action.title}: ${name}`,
              }),
            ),
          ),
      ),
    );
  }

  function select(company: Company, isSelected: boolean): void {
    if (isSelected) selected.set(company.reference, company);
    else selected.delete(company.reference);
    renderSelection();
  }

  function renderSelection(): void {
    const companies = [...selected.values()];
    selection.hidden = companies.length === 0;
    const sync = app.view().actions.find(({ message }) => message === 'confirmSyncDisabled');
    const canConfirm = sync !== undefined && companies.some(({ confirmedAt }) => confirmedAt === null);
    const decisions = companyDecisions(app, companies);
    const text = `${counted(companies.length, 'company')} selected`;
    fill(selection, [
      paragraph(el('strong', {}, text)),
      !canConfirm && decisions.length === 0 && hint('No decision applies to all of the selected companies.'),
      buttonRow(
        canConfirm && button('Confirm syncing off', () => openAction(app, sync, companies), { class: 'small' }),
        ...decisions.map((action) =>
          button(action.title, () => openAction(app, action, companies), { class: 'small' }),
        ),
        button('Clear the selection', clear, { class: 'small' }),
      ),
    ]);
    announce(text);
  }

  function clear(): void {
    if (selected.size === 0) return;
    selected.clear();
    renderSelection();
    for (const box of list.querySelectorAll<HTMLInputElement>('input[type=checkbox]')) box.checked = false;
  }

  return { update, restart: () => load(0), clear };
}

const SELECTED = '.companies input:checked';

/** Returns the texts that determine the height of a company's row. All other texts are short. */
const layoutOf = ({ problem, remedies, linkUrl }: Company): string =>
  JSON.stringify([problem, problem === null ? [] : remedies, linkUrl]);

const offeredBy = (app: App): string =>
  app
    .view()
    .actions.map(({ message }) => message)
    .join(' ');

/** Returns how a company can be helped: first what the client can do, because each of these actions has a button. */
function helpOf(app: App, company: Company): string {
  const own = offeredRemedies(app.view(), company.remedies).map(({ advice }) => advice);
  const client = canDecide(app) ? 'You can' : 'The client can';
  return [...(own.length === 0 ? [] : [`${client}: ${own.join('; ')}.`]), ...otherHelp(app.view(), company)].join(' ');
}
