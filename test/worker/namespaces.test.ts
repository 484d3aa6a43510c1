/**
 * Several namespaces on one Temporal server, each with its own workers and keys. A profile in Temporal's configuration
 * file selects the namespace.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { loadConfig } from '../../config';
import { readMigration } from '../../store';
import { SearchAttributesMissing } from '../../worker/connection';
import { runJson, MANIFEST } from '../cli/command-line';
import { ferry } from '../cli/captured-terminal';
import { until } from '../support/async';
import { startOrchestrator, type OpenedOrchestrator, type Orchestrator } from '../support/servers/orchestrator';

const NAMESPACE = `client-${randomBytes(4).toString('hex')}`;
const ID = 'separated.quickbooks-online';

let providerSide: OpenedOrchestrator;
let folder: string;
/** The same servers with the configuration for the client's namespace. */
let clientSide: OpenedOrchestrator;

beforeAll(async () => {
  providerSide = await startOrchestrator();
  const { address } = providerSide.config.temporal;
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace: NAMESPACE,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await connection.close();

  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const file = path.join(folder, 'temporal.toml');
  writeFileSync(
    file,
    `[profile.default]\naddress = "127.0.0.1:1"\n[profile.client]\naddress = "${address}"\nnamespace = "${NAMESPACE}"\n`,
  );
  const { TEMPORAL_ADDRESS: _address, TEMPORAL_NAMESPACE: _namespace, ...rest } = providerSide.env;
  const env = {
    ...rest,
    ...{ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'client' },
    TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
    TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
  };
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    env,
  );
  clientSide = { ...providerSide, env, config };
});
afterAll(async () => {
  await providerSide.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a worker refuses a namespace without search attributes, and names the command that creates them', async () => {
  const refusal = await providerSide.startWorker(clientSide.config).catch((error: unknown) => error);
  expect(String(refusal)).toMatch(new RegExp(`namespace ${NAMESPACE} lacks .*; create them with: ferry setup$`));
  expect((await runJson(clientSide, 'setup')).exitCode).toBe(0);
  await until(() =>
    providerSide.startWorker(clientSide.config).then(
      () => true,
      () => false,
    ),
  );
});

test('a single missing search attribute is named in the singular', () =>
  expect(new SearchAttributesMissing('acme', ['FerryStep']).message).toBe(
    'namespace acme lacks the search attribute FerryStep; create it with: ferry setup',
  ));

test('a migration that was started with a profile exists only in the namespace of that profile', async () => {
  await providerSide.startWorker();
  const start = ['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'separated'];
  expect((await runJson(clientSide, ...start)).exitCode).toBe(0);
  const idsIn = async (orchestrator: Orchestrator) =>
    ((await runJson(orchestrator, 'list')).json['migrations'] as { migrationId: string }[]).map(
      (each) => each.migrationId,
    );
  await until(async () => (await idsIn(clientSide)).includes(ID));
  expect(await idsIn(providerSide)).not.toContain(ID);
  expect((await runJson(clientSide, 'show', ID)).json).toMatchObject({
    migrationId: ID,
    preflight: expect.anything() as unknown,
  });
  expect((await ferry(['show', ID], undefined, providerSide.env)).err).toContain(`there is no migration ${ID}`);
  expect((await runJson(clientSide, 'approve', ID, 'supply-details', '--yes')).json).toMatchObject({
    outcome: 'applied',
  });
});

test('a migration cannot be read or changed without its payload key', async () => {
  const { TOKENFERRY_PAYLOAD_KEY } = providerSide.env;
  const env = { ...clientSide.env, TOKENFERRY_PAYLOAD_KEY };
  for (const args of [
    ['show', ID],
    ['pause', ID],
  ]) {
    expect((await ferry(args, undefined, env)).err).toMatch(
      /cannot be read on this machine: payload key [0-9a-f]+ is missing/,
    );
  }
});

test('a sweep ignores the migrations of other namespaces, even in a shared ledger', async () => {
  expect((await runJson(providerSide, 'sweep', '--close', '--yes')).json).toMatchObject({
    open: [],
    closed: [],
    closing: [],
  });
  expect(await readMigration(providerSide.ferry.db, ID)).toMatchObject({ state: 'open', vaultDestroyedAt: null });
  await runJson(clientSide, 'cancel', ID, '--reason', 'the test is over', '--yes');
  await until(async () => (await readMigration(providerSide.ferry.db, ID))?.state === 'closed');
});
