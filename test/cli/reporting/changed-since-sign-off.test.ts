/** Tests what `ferry show` prints about outcomes that have changed since a sign-off. */
import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import type { ChangedSinceSignOff } from '../../../domain/progress/sign-off-changes';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  stateAt,
} from '../../support/migrations/migration-states';
import { inTimeZone } from '../time-zone';
import { shownMigration } from './shown-migration';

const plan = migrationPlan({ migrationId: 'acme.quickbooks-online' });
const NOW = new Date(LATER);

/** A handover that the client has signed off. */
const HANDOVER = decideAll(
  stateAt('complete-migration', {
    preflight: preflight(),
    counts: counts({ total: 60, moved: 50, failed: 10, mustReconnect: 3 }),
    firstCompany: firstCompany(),
  }),
  approve('complete-migration', 'client'),
);

const CHANGE: ChangedSinceSignOff = {
  ...{ role: 'client', by: 'Cleo', at: AT },
  changed: [
    { state: 'not-moved', companies: 7, references: ['C-1001', 'C-1002', 'C-1003', 'C-1004', 'C-1005'] },
    { state: 'moved', companies: 1, references: ['C-1006'] },
  ],
};

function shown(
  state: MigrationState,
  changedSinceSignOff: readonly ChangedSinceSignOff[],
  { columns = 400, ledgerBehind = false } = {},
): readonly string[] {
  const progress = progressOf(plan, state);
  const next = nextCommands(progress, NO_COMPANIES, NOW);
  const clientPage = `http://127.0.0.1:8235/m/${progress.migrationId}`;
  const findings = { changedSinceSignOff, ledgerBehind, next, clientPage };
  return shownMigration(progress, findings, { columns, now: NOW }).trimEnd().split('\n');
}

const about = (lines: readonly string[]) => lines.filter((line) => line.includes('signed off at'));

test.each(['UTC', 'America/New_York'])(
  'in %s, the change and the command to reject it fit a terminal of 80x24',
  (zone) =>
    inTimeZone(zone, () => {
      const lines = shown(HANDOVER, [CHANGE], { columns: 80 });
      expect(lines.join(' ')).toMatch(
        /The client signed off at .*, before these outcomes: not moved: C-1001, .* and 2 more; moved: C-1006\. If/,
      );
      // The command is not broken.
      const command = 'ferry reject acme.quickbooks-online complete-migration --reason "why"';
      expect(lines).toContainEqual(expect.stringContaining(command));
      // The shell's prompt needs one row.
      expect(lines.length > 23 ? lines : []).toEqual([]);
    }),
);

test('once the migration has ended, the change is shown without a command', () => {
  const ended = { ...decideAll(HANDOVER, approve('complete-migration', 'support')), closed: 'completed' } as const;
  expect(about(shown(ended, [CHANGE, { ...CHANGE, role: 'support' }]))).toEqual([
    expect.stringMatching(/^The client .* moved: C-1006$/),
    expect.stringMatching(/^Support .* moved: C-1006$/),
  ]);
});

test('a ledger that is out of date says nothing about changes, and no change leaves no line', () => {
  expect(about(shown(HANDOVER, [CHANGE], { ledgerBehind: true }))).toEqual([]);
  expect(about(shown(HANDOVER, []))).toEqual([]);
});
