/** The forms of decisions that need more than a reason. */
import type { MigrationView } from '../../contract/migration-view';
import { expectedLimit } from '../../../domain/planning/limits';
import { localTimeProblem } from '../../../domain/planning/local-time';
import type { Window } from '../../../domain/planning/windows';
import { counted } from '../../../domain/text/sentences';
import { firstMove, parseWindowText } from '../../../presentation/wording/windows';
import type { Company } from '../../client/api';
import { eachCompany } from '../app';
import { FormProblem } from '../elements/dialog';
import { el, field, fieldset, hint } from '../elements/elements';
import { localInput, zoneText } from '../elements/times';

/** The companies of a decision. */
export type Scope = 'all' | readonly string[];

function describedField(label: string, input: HTMLElement, description: string): HTMLElement {
  const id = `${input.id}-hint`;
  input.setAttribute('aria-describedby', id);
  return field(label, input, el('p', { id, class: 'hint' }, description));
}

function radio(group: string, value: string, label: string, isChecked: boolean): HTMLElement {
  const id = `${group}-${value}`;
  const input = el('input', { type: 'radio', id, name: group, value, checked: isChecked });
  return el('div', { class: 'choice' }, input, el('label', { for: id }, label));
}

const chosen = (group: HTMLElement): string | undefined =>
  group.querySelector<HTMLInputElement>('input[type=radio]:checked')?.value;

const WINDOW_HINT = 'One window per line, such as "sat,sun 00:00-24:00 Europe/London".';

/** Returns the form for the limits that a client can change in the self-service route. */
export function limitsForm() {
  const pace = el('input', { id: 'pace', type: 'number', min: 1, max: 1_000_000, inputmode: 'numeric' });
  const windows = el('textarea', { id: 'windows', rows: 2, placeholder: 'mon-fri 22:00-05:00 Europe/London' });
  return {
    elements: [
      fieldset(
        'The limits',
        describedField(
          'When companies may move',
          windows,
          `${WINDOW_HINT} Leave the field empty to keep the current windows. Write "any time" to allow moves at any time.`,
        ),
        describedField('Maximum companies per minute', pace, 'Leave the field empty to keep the current limit.'),
      ),
    ],
    read: () => {
      const limits = {
        ...windowsOf(windows.value),
        ...(pace.value.trim() === '' ? {} : { companiesPerMinute: Number(pace.value) }),
      };
      if (Object.keys(limits).length === 0) throw new FormProblem('enter at least one change');
      const problem =
        'companiesPerMinute' in limits ? expectedLimit('companiesPerMinute', limits.companiesPerMinute) : null;
      if (problem !== null)
        throw new FormProblem('the number of companies per minute must be a whole number from 1 to 1,000,000');
      return { limits };
    },
  };
}

export function timeForm({ start, windows }: MigrationView) {
  const tomorrow = new Date(Date.now() + 24 * 60 * 60_000);
  const at = start === null ? firstMove(windows, tomorrow) : new Date(start.at);
  const input = el('input', {
    ...{ id: 'start-at', type: 'datetime-local', required: true },
    ...{ min: localInput(new Date()), value: localInput(at) },
  });
  const windowsInput = el('textarea', { id: 'windows', rows: 2, placeholder: 'mon-fri 22:00-05:00 Europe/London' });
  return {
    elements: [
      fieldset(
        'The start',
        describedField('Start', input, `Enter the start in your time zone, ${zoneText(at)}.`),
        describedField(
          'When companies may move (optional)',
          windowsInput,
          `${WINDOW_HINT} Now: ${windows ?? 'at any time'}. Leave the field empty to keep the current windows. Write "any time" to allow moves at any time.`,
        ),
      ),
    ],
    read: () => {
      if (input.value === '') throw new FormProblem('enter the date and the time of the start');
      return { startAt: startOf(input.value), ...windowsOf(windowsInput.value) };
    },
  };
}

/** @param local the value of the input, a local time without a zone: `2027-03-28T20:00` */
function startOf(local: string): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const problem = localTimeProblem(timeZone, Date.parse(`${local}Z`));
  if (problem !== null) throw new FormProblem(`${problem.why}; choose ${problem.nearest.join(' or ')} instead`);
  return new Date(local).toISOString();
}

function windowsOf(text: string): { readonly windows?: readonly Window[] } {
  const lines = text.split(/[\n;]/).filter((line) => line.trim() !== '');
  if (lines.length === 0) return {};
  if (/^\s*(at )?any ?time\s*$/i.test(text)) return { windows: [] };
  return {
    windows: lines.map((line) => {
      const window = parseWindowText(line);
      if ('problem' in window) throw new FormProblem(`"${line.trim()}": ${window.problem}`);
      return window;
    }),
  };
}

export function syncForm({ counts, waves }: MigrationView, selected: readonly Company[]) {
  const open = selected.filter(({ confirmedAt }) => confirmedAt === null);
  // Preselect only the next wave. If a wave is confirmed too early, its data is out of date for longer than necessary.
  const [next] = open.length > 0 ? [] : waves;
  const wave = el(
    'select',
    { id: 'wave', 'aria-label': 'Wave' },
    ...waves.map((each) =>
      el(
        'option',
        { value: String(each.wave) },
        `${each.wave === null ? 'without a wave' : `Wave ${each.wave}`}: ${counted(each.unconfirmed, 'company')}`,
      ),
    ),
  );
  const group = el(
    'fieldset',
    {},
    el('legend', {}, 'Syncing is off for'),
    radio(
      'scope',
      'all',
      `all companies (${counted(counts.unconfirmed, 'company')} not confirmed yet)`,
      !open.length && !next,
    ),
    waves.length > 0 &&
      el('div', { class: 'choice-more' }, radio('scope', 'wave', 'one wave', next !== undefined), wave),
    open.length > 0 &&
      radio('scope', 'selected', `the selected companies (${counted(open.length, 'company')} not confirmed yet)`, true),
  );
  if (open.length === 0) group.append(hint('To confirm single companies, select them in the list of companies.'));
  wave.addEventListener('change', () => {
    const choice = group.querySelector<HTMLInputElement>('#scope-wave');
    if (choice) choice.checked = true;
  });
  return {
    elements: [group],
    read: async (): Promise<{ readonly companies: Scope }> => {
      const scope = chosen(group);
      if (scope === 'all') return { companies: 'all' };
      if (scope === 'selected') return { companies: open.map(({ reference }) => reference) };
      const references: string[] = [];
      for await (const company of eachCompany({}))
        if (String(company.wave) === wave.value && company.confirmedAt === null && company.state !== 'left-out')
          references.push(company.reference);
      if (references.length === 0)
        throw new FormProblem('every company of this wave has already been confirmed or left out');
      return { companies: references };
    },
  };
}

/** Asks for the references of the companies, unless companies are selected. */
export function referencesForm(selected: readonly Company[]) {
  if (selected.length > 0)
    return { elements: [], read: () => ({ companies: selected.map(({ reference }) => reference) }) };
  const input = el('textarea', { id: 'references', rows: 4, spellcheck: false, autocomplete: 'off' });
  const description = 'Their references, one per line. You can also select the companies in the list first.';
  return {
    elements: [el('fieldset', {}, describedField('Companies', input, description))],
    read: async () => {
      const companies = [...new Set(await referencesIn(partsOf(input.value, '\n')))];
      if (companies.length === 0) throw new FormProblem('enter the reference of at least one company');
      return { companies };
    },
  };
}

const partsOf = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * Returns the references in the lines. Splits a line at its commas only if it is not a reference, but all of its parts
 * are, because a reference can contain commas.
 */
async function referencesIn(lines: readonly string[]): Promise<readonly string[]> {
  if (!lines.some((line) => line.includes(','))) return lines;
  const known = new Set<string>();
  for await (const { reference } of eachCompany({})) known.add(reference);
  return lines.flatMap((line) => {
    const parts = partsOf(line, ',');
    return !known.has(line) && parts.every((part) => known.has(part)) ? parts : [line];
  });
}
