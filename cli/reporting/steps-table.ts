import type { Output } from '../terminal';
import { localTime } from '../terminal/times';

export interface StepRow {
  readonly number: number;
  readonly title: string;
  readonly state: 'done' | 'open' | 'later';
  readonly openedAt: string | null;
  readonly endedAt: string | null;
  readonly approvals: readonly { readonly by: string; readonly role: string }[];
}

/** Prints one line per step. A terminal that is too narrow for the approvals shows none, so that no line wraps. */
export function printSteps(output: Output, steps: readonly StepRow[]): void {
  output.table(
    [
      { title: '' },
      { title: 'Step', unbroken: true },
      { title: 'State', unbroken: true },
      { title: 'Since / ended', unbroken: true },
      { title: 'Approved by', unbroken: true, optional: true },
    ],
    steps.map(({ number, title, state, openedAt, endedAt, approvals }) => [
      String(number),
      title,
      state === 'open'
        ? { text: 'open', style: 'yellow' }
        : state === 'done'
          ? { text: 'done', style: 'green' }
          : state,
      endedAt ? localTime(endedAt) : openedAt && state === 'open' ? localTime(openedAt) : '',
      approvals.map(({ role, by }) => `${by} (${role})`).join(', '),
    ]),
  );
}
