/**
 * Moves companies whose credentials, names, approvers and reasons are unique markers. One migration succeeds, one loses
 * its worker, and one is cancelled. Then searches for the markers in everything that was written.
 */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { decide, openLedgerClient, readRetriedErrors } from '../../client';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey, startService } from '../../company-data-service';
import { loadConfig } from '../../config';
import { startPostgres } from '../../stack/postgres/postgres';
import { startTemporal } from '../../stack/temporal/server';
import { createTemporaryFolder } from '../../stack/folders';
import { Secret } from '../../security';
import { createLog } from '../../security/log';
import { countCompanies } from '../../store';
import { startWorker } from '../../worker';
import { TIMING } from '../../worker/timing';
import { ferry as ferryCommand } from '../cli/captured-terminal';
import { waitForProgress } from '../workflows/running-migration';
import { registerApplications } from '../support/migrations/platforms';
import { until } from '../support/async';
import { createTestDatabase } from '../support/servers/database';
import { startHttpProxy, type Interceptor } from '../support/faults/http-proxy';
import { temporalCli } from '../support/servers/shared-servers';
import { startWorkerProcess } from '../support/servers/killable-process';
import { payloadsOf, saveResponses } from './codec-server-responses';
import { createMarker, filesBelow, findMarkers } from './leak-search';
import { applyDecision, CLIENT, moveFirstCompany, signOff, SUPPORT } from './marked-migrations';
import { SERVICE_CIPHER } from '../support/servers/keys';

let folder: string;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const QUOTED = createMarker('quoted');
const KEYS = { master: randomBytes(32).toString('base64'), payload: randomBytes(32).toString('base64') };

test('writes no credential anywhere, and no name to Temporal, a log or an unauthorized caller', async () => {
  const secrets = [...(await runMigrations()), ...Object.values(KEYS)];
  const written = filesBelow(folder);
  const below = (name: string): readonly string[] => written.filter((file) => file.startsWith(path.join(folder, name)));
  const logs = written.filter((file) => file.endsWith('.log'));
  const [inTemporal, inPostgres, responses, outputs] = ['temporal', 'postgres', 'responses', 'outputs'].map(below);
  for (const files of [inTemporal, inPostgres, responses, outputs, logs]) expect(files).not.toHaveLength(0);
  expect(inTemporal?.filter((file) => path.basename(file) === 'temporal.db')).toHaveLength(2);

  // Names are in the ledger and in the output of `ferry`. Finding them proves that the search works.
  expect(findMarkers('content', inPostgres ?? [])).not.toEqual([]);
  expect(findMarkers('content', outputs ?? [])).not.toEqual([]);

  expect(findMarkers('credential', written, secrets)).toEqual([]);
  expect(findMarkers('content', [...(inTemporal ?? []), ...(responses ?? []), ...logs])).toEqual([]);
  expect(findMarkers('quoted', [...(inTemporal ?? []), ...(responses ?? []), ...(outputs ?? [])])).toEqual([]);
}, 300_000);

/**
 * Runs three migrations with different outcomes, saves the output of commands and the codec server's responses, and
 * stops all processes.
 *
 * @returns another text that must not be found: the API key
 */
async function runMigrations(): Promise<readonly string[]> {
  const servers = { ephemeral: false, log: () => undefined, port: 0, uiPort: 0 };
  const cli = temporalCli();
  const temporal = await startTemporal({ ...servers, dataFolder: path.join(folder, 'temporal'), cli });
  const postgres = await startPostgres({ ...servers, dataFolder: path.join(folder, 'postgres') });
  const serviceDatabase = await createTestDatabase();
  const service = await startService({
    databaseUrl: serviceDatabase.url,
    cipher: SERVICE_CIPHER,
    requestsPerMinute: 100_000,
    syncBaseMs: 50,
    syncMsPerRecord: 1,
  });
  const proxy = await startHttpProxy(service.url);
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const serviceClient = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(key) });
  await registerApplications(serviceClient);
  const env = {
    TOKENFERRY_HOME: folder,
    TOKENFERRY_LOG_LEVEL: 'trace',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    DATABASE_URL: postgres.url,
    COMPANY_DATA_URL: proxy.url,
    COMPANY_DATA_API_KEY: key,
    TOKENFERRY_MASTER_KEY: KEYS.master,
    TOKENFERRY_VAULT_SECRETS: path.join(folder, 'vault-secrets'),
    TOKENFERRY_PAYLOAD_KEY: KEYS.payload,
  };
  mkdirSync(path.join(folder, 'vault-secrets'));
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    env,
  );
  const ferry = await openLedgerClient(config, { createLedger: true });
  for (const name of ['logs', 'responses', 'outputs']) mkdirSync(path.join(folder, name));
  const log = createLog({ level: 'trace', to: path.join(folder, 'logs', 'worker.log') });
  const code = readFileSync(path.join(__dirname, '../../dist/workflow-bundle.js'), 'utf8');

  const workerToKill = await startWorkerProcess(env, openSync(path.join(folder, 'logs', 'killed.log'), 'w'));
  const killed = await moveFirstCompany(ferry, 'killed', ['sbx-ok-1', 'sbx-slow-3000-ok-1', 'sbx-slow-3000-ok-1']);
  await applyDecision(ferry, killed, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await until(async () => (await countCompanies(ferry.db, killed)).waiting < 2);
  await workerToKill.kill();

  const withoutRetries = { ...TIMING, retryBudgetMs: 1 };
  const worker = await startWorker(config, log, { workflowBundle: { code } }, withoutRetries);
  proxy.on('GET', /^\/account/, refuseWithMarker);
  const moved = await moveFirstCompany(ferry, 'moved', ['sbx-ok-1', 'sbx-ok-1', 'sbx-revoked'], async (id) => {
    // The service's error text reaches the worker's log, and also Temporal, where it is encrypted.
    await until(async () => (await readRetriedErrors(ferry, id)).some((text) => text.includes(QUOTED)));
    proxy.reset();
  });
  await applyDecision(ferry, moved, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await waitForProgress(ferry, moved, ({ counts }) => counts.failed === 1 && counts.moved === 2);
  await applyDecision(ferry, moved, 'skip', {
    companies: ['R-3'],
    reason: createMarker('content'),
    ...SUPPORT,
  });
  await signOff(ferry, moved);
  const cancelled = await moveFirstCompany(ferry, 'cancelled', ['sbx-ok-1', 'sbx-ok-1']);
  await applyDecision(ferry, cancelled, 'pause', { reason: createMarker('content'), ...SUPPORT });
  await applyDecision(ferry, cancelled, 'resume', { reason: createMarker('content'), ...SUPPORT });
  // The audit trail records a refused decision completely, including its reason.
  const prematureApproval = { step: 'complete-migration', reason: createMarker('content'), ...CLIENT };
  expect((await decide(ferry, cancelled, 'approve', prematureApproval)).outcome).toBe('refused');
  await applyDecision(ferry, cancelled, 'cancel', { reason: createMarker('content'), ...CLIENT });
  await until(async () => (await countCompanies(ferry.db, killed)).moved === 3);
  await signOff(ferry, killed);

  await saveOutputs(env, [killed, moved, cancelled]);
  const codecServer = { folder, payloadKey: KEYS.payload, marker: SUPPORT.by };
  await saveResponses(await payloadsOf(ferry, moved), codecServer);
  await worker.stop();
  await ferry.close();
  await serviceClient.close();
  await proxy.close();
  await service.close();
  // The copy includes the files that SQLite keeps next to its database while Temporal is running.
  cpSync(path.join(folder, 'temporal'), path.join(folder, 'temporal-running'), { recursive: true });
  await temporal.stop();
  await postgres.stop();
  await serviceDatabase.drop();
  return [key];
}

/** Responds with an error whose text contains a marker. */
const refuseWithMarker: Interceptor = (response) => {
  const error = { statusCode: 500, service: 'any', error: `there is no room for ${QUOTED}`, correlationId: 'none' };
  response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify(error));
};

/** Runs commands that succeed and commands that fail, and saves their output. */
async function saveOutputs(env: NodeJS.ProcessEnv, ids: readonly string[]): Promise<void> {
  const perMigration = ids.flatMap((id) => [
    ...['show', 'companies', 'exceptions', 'report', 'audit', 'watch', 'go-nogo'].map((command) => [command, id]),
    ...[
      ['audit', id, '--format', 'jsonl'],
      ['approve', id, '--yes'],
      ['credentials', id, path.join(folder, 'none')],
    ],
  ]);
  const commands = [['list'], ['sweep'], ['vault', 'rotate'], ...perMigration];
  let outputs = 0;
  for (const command of commands) {
    for (const args of [command, [...command, '--json', '--debug']]) {
      const { out, err } = await ferryCommand(args, undefined, env);
      outputs += 1;
      writeFileSync(path.join(folder, 'outputs', `${outputs}.txt`), `${args.join(' ')}\n${out}\n${err}`);
    }
  }
}
