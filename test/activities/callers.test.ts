/**
 * Tests the check of the calling workflow. For an attack by a foreign workflow, see
 * test/workflows/migration/foreign-workflows.test.ts.
 */
import type { Activities } from '../../activities';
import { withCallerCheck } from '../../activities/callers';
import { supplyMigration } from '../../store';
import { activityEnvironment } from '../support/migrations/company-import';
import { manifestRows, suppliedMigration, useLedger } from '../support/migrations/ledger';

const ledger = useLedger();

test.each<[string, string, string]>([
  ['', 'ours', 'counted'],
  ['.batch', 'ours', 'counted'],
  ['.evil', 'ours', 'is not allowed to call this activity'],
  ['', 'theirs', 'belongs to another Temporal namespace'],
])('a call from the workflow <migration>%s in the namespace %s: %s', async (suffix, namespace, answer) => {
  const { id, ...more } = suppliedMigration({ namespace: 'ours' });
  await supplyMigration(ledger.db, { id, ...more }, manifestRows(1));
  const activities = { countCompanies: async () => 'counted' } as unknown as Activities;
  const checked = withCallerCheck(activities, ledger.db);
  const environment = activityEnvironment({
    namespace,
    workflowExecution: { workflowId: `${id}${suffix}`, runId: 'r' },
  });
  const answered = environment.run(() => checked.countCompanies({ migrationId: id })).catch(String);
  expect(await answered).toContain(answer);
});
