/** Tests that `ferry exceptions` needs only the ledger: without the workflow, it omits outages and paused windows. */
import { ServiceError } from '@temporalio/client';
import { readOpening } from '../../../cli/reporting/listed-migration';
import type { LedgerClient } from '../../../client';
import { readMigration } from '../../../store';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestrator();
const ledger = useLedger();

/** Creates a migration with a deferred company, only in the ledger. */
async function withDeferredCompany(): Promise<string> {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, { state: 'waiting', tries: 2, failure_text: 'no access', not_before: new Date() });
  return id;
}

test('exceptions lists a deferred company after Temporal has lost the migration', async () => {
  const id = await withDeferredCompany();
  const env = { ...orchestrator.env, DATABASE_URL: ledger.url };
  const { exitCode, err, out } = await ferry(['exceptions', id], undefined, env);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toContain('tried 2 times; next try is due now)');
});

test('in step 5, exceptions says that the other companies are tried only once the first company is approved', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await updateRow(ledger.db, id, 1, { state: 'waiting', tries: 1, failure_text: null });
  await updateRow(ledger.db, id, 2, { state: 'waiting', tries: 2, failure_text: 'no access', not_before: new Date() });
  const exceptionsIf = async (firstRow: number): Promise<string> => {
    const chosen = { released: 'first-company', first_row: firstRow } as const;
    await ledger.db.updateTable('migrations').set(chosen).where('id', '=', id).execute();
    return (await ferry(['exceptions', id], undefined, { ...orchestrator.env, DATABASE_URL: ledger.url })).out;
  };
  const out = await exceptionsIf(3);
  expect(out).toContain('tried 2 times; next try once the first company is approved)');
  expect(out).toMatch(/^c1 .+ will be tried again once the first company is approved\n {2}Until the next try, /m);
  expect(out).toContain(`  ferry exclude ${id} c1 --reason "why"\n`);
  const first = await exceptionsIf(1);
  expect(first).toMatch(/^c1 .+ will be tried again now$/m);
  expect(first).not.toContain('Until the next try');
});

test('the outages and paused windows are left out if Temporal does not answer', async () => {
  const { db } = ledger;
  const stored = await readMigration(db, await withDeferredCompany());
  if (!stored) throw new Error('the ledger has no such migration');
  const unavailable = async () => {
    throw new ServiceError('Failed to query Workflow', { cause: Object.assign(new Error('14'), { code: 14 }) });
  };
  const client = { ...orchestrator.ferry, db, temporal: { withDeadline: unavailable } };
  const migration = { ...stored, stage: 'open', application: null } as const;
  expect(await readOpening(client as unknown as LedgerClient, migration)).toMatchObject({ once: null });
});
