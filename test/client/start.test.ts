/** Starts a migration repeatedly while no worker is running, as after an attempt whose response was lost. */
import { startMigration, type StartRequest } from '../../client';
import { findPlatform, type Platform } from '../../platforms/platforms';
import { readMigration } from '../../store';
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

test('a migration that was started, but not opened by a worker yet, is named and keeps what was supplied last', async () => {
  const { ferry } = orchestrator;
  const id = await startMigration(ferry, request);
  await expect(startMigration(ferry, { ...request, by: 'Kim' })).rejects.toMatchObject({
    name: 'MigrationRunning',
    message: `migration ${id} has already been started; it now has the manifest that was supplied last`,
  });
  expect(await readMigration(ferry.db, id)).toMatchObject({ state: 'supplied' });

  const { rows: _, ...withoutRows } = request;
  await expect(startMigration(ferry, withoutRows)).rejects.toThrow(
    `migration ${id} has already been started; it now has no manifest`,
  );
  await ferry.temporal.workflow.getHandle(id).terminate();
  await expect(startMigration(ferry, request)).rejects.toThrow(`Temporal already has a workflow with the id ${id}`);
  expect(await readMigration(ferry.db, id)).toBeUndefined();
});
