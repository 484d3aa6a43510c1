import { STEP_RULES, stepNumber } from '../../domain/migration/steps';
import { isStepDone, type StepProgress, type Progress } from '../../domain/progress/progress';
import { readConfirmers, type Confirmers, type Database } from '../../store';
import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';
import { withLedgerLimit } from '../connections/ledger-limit';

export interface StepRow {
  readonly number: number;
  readonly title: string;
  readonly state: 'done' | 'open' | 'later';
  readonly openedAt: string | null;
  readonly endedAt: string | null;
  readonly approvals: readonly { readonly by: string; readonly role: string }[];
  /** The people whose confirmations have ended the step; absent if the step ends with approvals, or if not known. */
  readonly confirmedBy?: readonly string[];
  /** Number of further people whose confirmations have ended the step. Default: 0. */
  readonly otherConfirmers?: number;
}

/** Maximum number of people who are named for step 4, so that the table fits 80 columns. */
const CONFIRMERS_SHOWN = 2;

/** @param confirmers the people who have confirmed that syncing is off; null if they are not known */
export function stepRow({ step, ...rest }: StepProgress, confirmers: Confirmers | null): StepRow {
  const row = { ...rest, number: stepNumber(step), title: STEP_RULES[step].title };
  // The confirmations of an open step have not ended it, so nobody is named yet.
  if (step !== 'disable-syncing' || rest.state !== 'done' || confirmers === null) return row;
  const confirmedBy = confirmers.names.slice(0, CONFIRMERS_SHOWN);
  return { ...row, confirmedBy, otherConfirmers: confirmers.people - confirmedBy.length };
}

/** Returns the people who have approved a step, or whose confirmations have ended the step. */
export function approversText({ approvals, confirmedBy = [], otherConfirmers = 0 }: StepRow): string {
  const names = [...approvals, ...confirmedBy.map((by) => ({ by, role: 'client' }))]
    .map(({ role, by }) => `${by} (${role})`)
    .join(', ');
  return otherConfirmers === 0 ? names : `${names} and ${otherConfirmers.toLocaleString('en-US')} more`;
}

/** Returns the words for the states of a step. Once the migration has ended, no step is open or still to come. */
export function stepWords(hasEnded: boolean): Readonly<Record<StepRow['state'], string>> {
  return hasEnded
    ? { done: 'done', open: 'ended here', later: 'not reached' }
    : { done: 'done', open: 'open', later: 'later' };
}

/**
 * Prints one line per step. A terminal that is too narrow for the approvals shows none, so that no line wraps.
 *
 * @returns true if a line below the table says how to see the approvals
 */
export function printSteps(output: Output, steps: readonly StepRow[], hasEnded: boolean): boolean {
  const words = stepWords(hasEnded);
  return output.table(
    [
      '',
      { title: 'Step', unbroken: true },
      { title: 'State', unbroken: true },
      { title: 'Since / ended', unbroken: true },
      { title: 'Decided by', unbroken: true, optional: true },
    ],
    steps.map((row) => {
      const { number, title, state, openedAt, endedAt } = row;
      return [
        String(number),
        title,
        state === 'later' ? words.later : { text: words[state], style: state === 'open' ? 'yellow' : 'green' },
        endedAt ? localTime(endedAt) : openedAt && state === 'open' && !hasEnded ? localTime(openedAt) : '',
        approversText(row),
      ];
    }),
  );
}

/** Maximum number of people who are read for step 4. The line of the step names fewer. */
export const MAX_CONFIRMERS = 10;

/**
 * Reads the people who have confirmed that syncing is off; null until step 4 has ended, because no view names them
 * before then.
 */
export async function readConfirmersOf(
  db: Database,
  { migrationId, steps }: Pick<Progress, 'migrationId' | 'steps'>,
): Promise<Confirmers | null> {
  if (!isStepDone({ steps }, 'disable-syncing')) return null;
  return withLedgerLimit(readConfirmers(db, migrationId, MAX_CONFIRMERS));
}
