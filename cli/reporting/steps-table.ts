import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';

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

/** Returns the words for the states of a step. Once the migration has ended, no step is open or still to come. */
export function stepWords(hasEnded: boolean): Readonly<Record<StepRow['state'], string>> {
  return hasEnded
    ? { done: 'done', open: 'ended here', later: 'not reached' }
    : { done: 'done', open: 'open', later: 'later' };
}

/** Prints one line per step. A terminal that is too narrow for the approvals shows none, so that no line wraps. */
export function printSteps(output: Output, steps: readonly StepRow[], hasEnded: boolean): void {
  const words = stepWords(hasEnded);
  output.table(
    [
      { title: '' },
      { title: 'Step', unbroken: true },
      { title: 'State', unbroken: true },
      { title: 'Since / ended', unbroken: true },
      { title: 'Approved by', unbroken: true, optional: true },
    ],
    steps.map(({ number, title, state, openedAt, endedAt, approvals, confirmedBy = [], otherConfirmers = 0 }) => [
      String(number),
      title,
      state === 'later' ? words.later : { text: words[state], style: state === 'open' ? 'yellow' : 'green' },
      endedAt ? localTime(endedAt) : openedAt && state === 'open' ? localTime(openedAt) : '',
      [...approvals, ...confirmedBy.map((by) => ({ by, role: 'client' }))]
        .map(({ role, by }) => `${by} (${role})`)
        .join(', ') + (otherConfirmers === 0 ? '' : ` and ${otherConfirmers.toLocaleString('en-US')} more`),
    ]),
  );
}
