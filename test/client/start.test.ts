/** Starts a migration repeatedly while no worker is running, as after an attempt whose response was lost. */
import { startMigration, type StartRequest } from '../../client';
import { findPlatform, type Platform } from '../../platforms/platforms';
import { countCompanies, readMigration } from '../../store';
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
