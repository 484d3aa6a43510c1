/** Starts a migration repeatedly while no worker is running, as after an attempt whose response was lost. */
import { sql } from 'kysely';
import { startMigration, type LedgerClient, type StartRequest } from '../../client';
import { findPlatform, type Platform } from '../../platforms/platforms';
import { countCompanies, readMigration } from '../../store';
import { until } from '../support/async';
import { useOrchestrator } from '../support/servers/orchestrator';

const orchestrator = useOrchestrator();

const rows = [
  { row: 1, reference: 'C-1', name: 'One', organization: '91', expectedInvoices: null, wave: null, family: null },
];
const request: StartRequest = {
  client: 'acme',
  platform: findPlatform('xero') as Platform,
  rows,
  manifestDigest: 'a'.repeat(64),
  contact: 'the solutions team',
  by: 'Sam',
  firstCompany: null,
};

test('a migration that was started, but not opened by a worker yet, keeps the plan of its workflow in the ledger', async () => {
  const { ferry } = orchestrator;
  const id = await startMigration(ferry, request);
  const stored = async () => [await readMigration(ferry.db, id), (await countCompanies(ferry.db, id)).total];
  const first = await stored();
  expect(first).toMatchObject([{ state: 'supplied', suppliedBy: 'Sam', contact: request.contact }, 1]);
  const { rows: _, ...withoutRows } = request;
  for (const other of [{ ...request, contact: 'Kim', by: 'Kim', decisions: { fourEyes: true } }, withoutRows]) {
    await expect(startMigration(ferry, other)).rejects.toMatchObject({
      name: 'MigrationRunning',
      message: `migration ${id} has already been started, so this start was refused`,
    });
    expect(await stored()).toEqual(first);
  }
  await ferry.temporal.workflow.getHandle(id).terminate();
  await expect(startMigration(ferry, request)).rejects.toThrow(`Temporal already has a workflow with the id ${id}`);
  expect(await readMigration(ferry.db, id)).toBeUndefined();
});

test('of two starts at once, the second is refused, so the ledger keeps the plan of the workflow that runs', async () => {
  const { ferry } = orchestrator;
  const twice = { ...request, label: 'twice' };
  const id = 'acme.xero.twice';
  const storedContact = async () => (await readMigration(ferry.db, id))?.contact;
  /** Returns the client, which calls `before` when it is about to start the workflow. */
  const startingAfter = (before: () => Promise<void>): LedgerClient => {
    const workflow = Object.create(ferry.temporal.workflow) as LedgerClient['temporal']['workflow'];
    const start: typeof workflow.start = async (...args) => {
      await before();
      return ferry.temporal.workflow.start(...args);
    };
    const replaced = { workflow: { value: Object.assign(workflow, { start }) } };
    const temporal = Object.create(ferry.temporal, replaced) as LedgerClient['temporal'];
    return { ...ferry, temporal };
  };
  let second: Promise<string> | undefined;
  let isFirstStarted = false;
  const first = startMigration(
    startingAfter(async () => {
      // The second start stores its plan now, unless it has to wait.
      const untilStarted = startingAfter(() => until(() => isFirstStarted));
      second = startMigration(untilStarted, { ...twice, contact: 'Kim' });
      second.catch(() => undefined);
      await until(async () => (await storedContact()) === 'Kim' || (await isAnyLockAwaited(ferry)));
    }),
    twice,
  );
  expect(await first).toBe(id);
  isFirstStarted = true;
  await expect(second).rejects.toMatchObject({ name: 'MigrationRunning' });
  const { memo } = await ferry.temporal.workflow.getHandle(id).describe();
  expect(memo).toMatchObject({ contact: request.contact });
  expect(await storedContact()).toBe(request.contact);
});

async function isAnyLockAwaited({ db }: LedgerClient): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`.execute(db);
  return rows.length > 0;
}
