/** The two lists of the page: all companies with search and filter, and those that need attention. */
import { reconnectLinksName } from '../../contract/file-names';
import type { App } from '../app';
import { isInReconnectLinks, noExceptionsText } from '../../client/remedies';
import { STATE_LABELS, type Company, type CompanyState } from '../../client/api';
import { createCompanyList, type CompanyList } from './companies';
import { byId, el, field, hint } from '../elements/elements';
import { zoneText } from '../elements/times';

export function createAllCompanies(app: App): CompanyList {
  const search = el('input', { type: 'search', id: 'search', autocomplete: 'off', maxlength: 100 });
  const state = el(
    'select',
    { id: 'state' },
    el('option', { value: '' }, 'Every state'),
    ...Object.entries(STATE_LABELS).map(([value, label]) => el('option', { value }, label)),
  );
  const list = createCompanyList({
    app,
    container: byId('companies'),
    head: [
      el('h2', { id: 'companies-title' }, 'Companies'),
      el(
        'form',
        { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
        field('Find by name or reference', search),
        field('Show', state),
      ),
      hint(`Times are in ${zoneText()}.`),
    ],
    filter: () => ({
      search: search.value.trim(),
      state: state.value === '' ? undefined : (state.value as CompanyState),
    }),
    empty: () => {
      if (search.value.trim() !== '' || state.value !== '') return 'No company matches.';
      // Once the migration has ended, `next` is null, and no companies can be supplied.
      return app.view().next === null ? 'There are no companies.' : 'There are no companies yet.';
    },
  });
  let waiting: ReturnType<typeof setTimeout> | undefined;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => void list.restart(), 250);
  });
  state.addEventListener('change', () => void list.restart());
  return list;
}

/** Describes the entries. Once the migration has ended, `next` is null, and they no longer say what can be done. */
function introOf(app: App): string {
  const help = app.view().next === null ? '' : ' and what can be done';
  return `Each entry says what went wrong${help}. If the end customer of a company must reconnect, send the end customer the link to the reconnect page. `;
}

export function createExceptions(app: App): CompanyList {
  const intro = el('span', {});
  const download = el(
    'a',
    { class: 'download', href: '/api/reconnect-links.csv', download: reconnectLinksName(app.session.migrationId) },
    'Download all reconnect links (CSV)',
  );
  const about = hint(intro, download);
  let shown: readonly Company[] = [];
  let isIncomplete = false;
  // A company that is not shown can have a link, too.
  const offerDownload = (): void => {
    const hasOther = isIncomplete && (app.view().hasReconnectLinks ?? true);
    download.hidden = !hasOther && !shown.some(isInReconnectLinks);
  };
  const list = createCompanyList({
    app,
    container: byId('exceptions'),
    head: [el('h2', { id: 'exceptions-title' }, 'Companies that need attention'), about],
    filter: () => ({ exceptions: true }),
    empty: () => noExceptionsText(app.view()),
    onShow: (companies, hasMore) => {
      shown = companies;
      isIncomplete = hasMore;
      about.hidden = companies.length === 0;
      offerDownload();
      intro.textContent = introOf(app);
    },
  });
  return {
    ...list,
    update: async () => {
      await list.update();
      offerDownload();
    },
  };
}
