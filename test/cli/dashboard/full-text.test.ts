/** Tests that each long text of the dashboard can be read in full on a screen of 80 columns and 24 lines. */
import { frameOf, lastTextTop } from '../../../cli/dashboard/frame';
import { handleKey } from '../../../cli/dashboard/keys';
import { INITIAL_STATE, type DashboardState, type MigrationDetail } from '../../../cli/dashboard/state';
import { textOf, widthOf } from '../../../cli/terminal/styled-text';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';

const NOW = new Date('2026-03-02T22:04:11Z');
const SIZE = { columns: 80, rows: 24 };

/** Returns a text of about 600 characters, with its name at the end. */
const long = (name: string): string => `${'our office is flooded, and nobody can answer questions '.repeat(11)}${name}`;

const pause = { by: 'Sam', role: 'support', at: AT, reason: long('end-of-pause'), stopReason: null } as const;
const rejection = {
  decision: {
    kind: 'retry',
    companies: ['C-1'],
    decisionId: '1',
    role: 'support',
    by: 'Sam',
    reason: long('end-of-reason'),
  },
  outcome: { decisionId: '1', applied: false, text: long('end-of-refusal'), at: AT },
};
const exception = {
  ...{ row: 1, reference: 'C-1', name: 'Company 1', failure: 'sync-failed', state: 'failed', heldBack: null },
  ...{ correlationId: '0af1', deferred: false, failureText: `${long('end-of-failure')} ${'x'.repeat(100)}end-of-word` },
};
const detail = {
  progress: progressOf(
    migrationPlan(),
    stateAt('complete-migration', { counts: counts({ total: 9, moved: 5, failed: 4 }), pausesByPeople: [pause] }),
  ),
  ...{ overview: null, confirmers: null, outages: [long('end-of-retry')], exceptions: [exception] },
  decisions: [rejection],
} as unknown as MigrationDetail;
const page: DashboardState = {
  ...INITIAL_STATE,
  ...{ rows: [], selected: 'acme.xero', isOpen: true, detail, selectedException: 1 },
};

const press = (state: DashboardState, key: string): DashboardState =>
  handleKey(state, key, SIZE.rows, lastTextTop(state, SIZE, NOW)).state;
const linesOf = (state: DashboardState): readonly string[] =>
  frameOf(state, SIZE, NOW).map((line) => line.map(textOf).join('').trimEnd());

test('a page shows its texts in full on request, and they can be scrolled to their end and back', () => {
  expect(linesOf(page).at(-1)).toContain('Enter in full');
  expect(linesOf(page).join('\n')).not.toContain('end-of-failure');
  let state = press(page, 'return');
  const seen = new Set<string>();
  for (let at = 0; at < 200; at += 1) {
    const lines = linesOf(state);
    expect(lines).toHaveLength(SIZE.rows);
    for (const line of lines) {
      expect(widthOf(line)).toBeLessThanOrEqual(SIZE.columns);
      seen.add(line);
    }
    state = press(state, 'down');
  }
  const text = [...seen].join('\n');
  for (const name of ['pause', 'retry', 'failure', 'word', 'reason', 'refusal'])
    expect(text).toContain(`end-of-${name}`);
  // Scrolling stops at the last line, so one "up" scrolls back, however often "down" was pressed.
  const last = linesOf(state);
  expect(last.join('\n')).toContain('end-of-refusal');
  expect(linesOf(press(state, 'up'))).not.toEqual(last);
  expect(linesOf(press(press(state, 'home'), 'end'))).toEqual(last);
  expect(press(state, 'escape')).toMatchObject({ isOpen: true, fullTextTop: null });
});

test('a refusal and a failed connection are shown in full', () => {
  const lastResult = {
    outcome: 'refused',
    text: `${'the migration has changed since you reviewed it '.repeat(9)}end-of-result`,
    at: 0,
  } as const;
  expect(linesOf({ ...page, lastResult }).join('\n')).toContain('end-of-result');
  const connectionError = `${'cannot reach Temporal; start this server '.repeat(3)}end-of-error`;
  const lines = linesOf({ ...page, connectionError, fullTextTop: 0 });
  expect(lines.join(' ')).toContain('end-of-error; retrying automatically');
  expect(lines).toHaveLength(SIZE.rows);
});
