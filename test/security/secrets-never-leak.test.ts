/**
 * Moves companies whose credentials, names, approvers and reasons are unique markers: with success, failure, a killed
 * worker and a cancellation. Then searches everything that was written for the markers.
 */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { LedgerClient } from '../../client';
import { decide, openLedgerClient, readOutages, startMigration } from '../../client';
import { manifestDigest } from '../../cli/manifest';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey, startService } from '../../company-data-service';
import { loadConfig } from '../../config';
import { startPostgres } from '../../stack/postgres/postgres';
import { startTemporal } from '../../stack/temporal/server';
import { createTemporaryFolder } from '../../stack/folders';
import { findPlatform } from '../../platforms/platforms';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { parsePayloadKeys, Secret } from '../../security';
import { startCodecServer, createTokenVerifier } from '../../security/codec-server';
import { createLog } from '../../security/log';
import { countCompanies, supplyCredentials } from '../../store';
import { startWorker } from '../../worker';
import { TIMING } from '../../worker/timing';
import { ferry as ferryCommand } from '../cli/captured-terminal';
import { waitForProgress } from '../workflows/running-migration';
import { registerApplications } from '../support/applications';
import { until } from '../support/conditions';
import { createTestDatabase } from '../support/database';
import { startHttpProxy } from '../support/http-proxy';
import { temporalCli } from '../support/servers';
import { startWorkerProcess } from '../support/worker-process';
import { filesBelow, encodingsOf, findMarkers, createMarker } from './leak-search';

let folder: string;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SUPPORT = { role: 'support', by: createMarker('content') } as const;
const CLIENT = { role: 'client', by: createMarker('content') } as const;
const QUOTED = createMarker('quoted');
const KEYS = { master: randomBytes(32).toString('base64'), payload: randomBytes(32).toString('base64') };
let organizations = 6_000_000_000_000_000;

test('the search finds a text in every encoding, also inside another text', () => {
  const file = path.join(folder, 'hidden');
  const text = createMarker('content');
  for (const { name, form } of encodingsOf(text)) {
    writeFileSync(file, Buffer.concat([Buffer.from('before'), Buffer.from(form), Buffer.from('after')]));
    expect(findMarkers('content', [file])).toContain(`${file}: ${text} ${name}`);
  }
  for (const before of ['', 'a', 'ab', 'abc']) {
    for (const encoding of ['base64', 'base64url', 'hex', 'utf16le'] as const) {
      const long = Buffer.from(`${before}${text} and more`, encoding === 'utf16le' ? encoding : 'utf8');
      writeFileSync(file, encoding === 'utf16le' ? long : long.toString(encoding));
      expect(findMarkers('content', [file])).not.toEqual([]);
    }
  }
  rmSync(file);
});

test('no credential is written anywhere, and no name to Temporal, a log or an unauthorized caller', async () => {
  const others = [...(await runMigrations()), ...Object.values(KEYS)];
  const written = filesBelow(folder);
  const below = (name: string): readonly string[] => written.filter((file) => file.startsWith(path.join(folder, name)));
  const logs = written.filter((file) => file.endsWith('.log'));
  const [inTemporal, inPostgres, answers, outputs] = ['temporal', 'postgres', 'answers', 'outputs'].map(below);
  for (const files of [inTemporal, inPostgres, answers, outputs, logs]) expect(files).not.toHaveLength(0);
  expect(inTemporal?.filter((file) => path.basename(file) === 'temporal.db')).toHaveLength(2);

  // Proves that the search works: names must be found in the ledger and in the output of `ferry`.
  expect(findMarkers('content', inPostgres ?? [])).not.toEqual([]);
  expect(findMarkers('content', outputs ?? [])).not.toEqual([]);

  expect(findMarkers('credential', written, others)).toEqual([]);
  expect(findMarkers('content', [...(inTemporal ?? []), ...(answers ?? []), ...logs])).toEqual([]);
  expect(findMarkers('quoted', [...(inTemporal ?? []), ...(answers ?? []), ...(outputs ?? [])])).toEqual([]);
}, 300_000);

/**
 * Runs three migrations with different outcomes, calls everything that produces output, and stops all processes.
 *
 * @returns further texts that must not be found: API keys
 */
async function runMigrations(): Promise<readonly string[]> {
  const servers = { ephemeral: false, log: () => undefined, port: 0, uiPort: 0 };
  const cli = temporalCli();
  const temporal = await startTemporal({ ...servers, dataFolder: path.join(folder, 'temporal'), cli });
  const postgres = await startPostgres({ ...servers, dataFolder: path.join(folder, 'postgres') });
  const serviceDatabase = await createTestDatabase();
  const service = await startService({
    databaseUrl: serviceDatabase.url,
    requestsPerMinute: 100_000,
    syncBaseMs: 50,
    syncMsPerRecord: 1,
  });
  const between = await startHttpProxy(service.url);
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const direct = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(key) });
  await registerApplications(direct);
  const variables = {
    TOKENFERRY_HOME: folder,
    TOKENFERRY_LOG_LEVEL: 'trace',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    DATABASE_URL: postgres.url,
    COMPANY_DATA_URL: between.url,
    COMPANY_DATA_API_KEY: key,
    TOKENFERRY_MASTER_KEY: KEYS.master,
    TOKENFERRY_PAYLOAD_KEY: KEYS.payload,
  };
  const config = loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'payloadKeys', 'webhook'], variables);
  const ferry = await openLedgerClient(config);
  for (const name of ['logs', 'answers', 'outputs']) mkdirSync(path.join(folder, name));
  const log = createLog({ level: 'trace', to: path.join(folder, 'logs', 'worker.log') });
  const code = readFileSync(path.join(__dirname, '../../dist/workflow-bundle.js'), 'utf8');

  const doomed = await startWorkerProcess(variables, openSync(path.join(folder, 'logs', 'killed.log'), 'w'));
  const killed = await moveFirstCompanyAfterOutage(ferry, 'killed', [
    'sbx-ok-1',
    'sbx-slow-3000-ok-1',
    'sbx-slow-3000-ok-1',
  ]);
  await decideAndExpectApplied(ferry, killed, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await until(async () => (await countCompanies(ferry.db, killed)).waiting < 2, 30_000);
  await doomed.kill();

  const impatient = { ...TIMING, retryBudgetMs: 1 };
  const worker = await startWorker(config, log, { workflowBundle: { code } }, impatient);
  const moved = await moveFirstCompanyAfterOutage(
    ferry,
    'moved',
    ['sbx-ok-1', 'sbx-ok-1', 'sbx-revoked'],
    async (id) => {
      // The service's error text goes to Temporal and to the worker's log.
      await until(async () => (await readOutages(ferry, id)).some((text) => text.includes(QUOTED)), 40_000);
      between.reset();
    },
  );
  await decideAndExpectApplied(ferry, moved, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await waitForProgress(ferry, moved, ({ counts }) => counts.failed === 1 && counts.migrated === 2);
  await decideAndExpectApplied(ferry, moved, 'skip', {
    companies: ['R-3'],
    reason: createMarker('content'),
    ...SUPPORT,
  });
  await signOff(ferry, moved);
  const cancelled = await moveFirstCompanyAfterOutage(ferry, 'cancelled', ['sbx-ok-1', 'sbx-ok-1']);
  await decideAndExpectApplied(ferry, cancelled, 'pause', { reason: createMarker('content'), ...SUPPORT });
  await decideAndExpectApplied(ferry, cancelled, 'resume', { reason: createMarker('content'), ...SUPPORT });
  // A refused decision is recorded completely.
  const early = { step: 'complete-migration', reason: createMarker('content'), ...CLIENT };
  expect((await decide(ferry, cancelled, 'approve', early)).became).toBe('refused');
  await decideAndExpectApplied(ferry, cancelled, 'cancel', { reason: createMarker('content'), ...CLIENT });
  await until(async () => (await countCompanies(ferry.db, killed)).migrated === 3, 60_000);
  await signOff(ferry, killed);

  await saveOutputs(variables, [killed, moved, cancelled]);
  await saveResponses(await payloadsOf(ferry, moved));
  await worker.stop();
  await ferry.close();
  await direct.close();
  await between.close();
  await service.close();
  // Includes the files that SQLite keeps beside its database while it is running.
  cpSync(path.join(folder, 'temporal'), path.join(folder, 'temporal-running'), { recursive: true });
  await temporal.stop();
  await postgres.stop();
  await serviceDatabase.drop();
  return [key];

  async function moveFirstCompanyAfterOutage(
    ...[line, client, tokens, held]: Parameters<typeof moveFirstCompany>
  ): Promise<string> {
    if (held) {
      const refusal = {
        statusCode: 500,
        service: 'any',
        error: `there is no room for ${QUOTED}`,
        correlationId: 'none',
      };
      between.on('GET', /^\/account/, (response) => {
        response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      });
    }
    return moveFirstCompany(line, client, tokens, held);
  }
}

/** Takes a migration through steps 1 to 4 until its first company is verified. */
async function moveFirstCompany(
  ferry: LedgerClient,
  client: string,
  tokens: readonly string[],
  afterStart?: (id: string) => Promise<void>,
): Promise<string> {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('the platform table lacks it');
  const companies = tokens.map((token, index) => {
    organizations += 1;
    const organization = String(organizations);
    const refreshToken = `${token}.${createMarker('credential')}`;
    return {
      credential: { accessToken: createMarker('credential'), refreshToken, realmId: organization },
      row: {
        row: index + 1,
        reference: `R-${index + 1}`,
        name: createMarker('content'),
        organization,
        expectedInvoices: null,
        wave: null,
        family: null,
      },
    };
  });
  const rows = companies.map(({ row }) => row);
  const id = await startMigration(ferry, {
    client,
    platform,
    rows,
    manifestDigest: manifestDigest(rows),
    contact: createMarker('content'),
    by: SUPPORT.by,
    firstCompany: null,
  });
  await afterStart?.(id);
  await waitForProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'supply-details', ...SUPPORT });
  await decideAndExpectApplied(ferry, id, 'proposeTime', {
    startAt: new Date().toISOString(),
    reason: createMarker('content'),
    ...SUPPORT,
  });
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'schedule', ...SUPPORT });
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'schedule', ...CLIENT });
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'update-application', ...CLIENT });
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'update-application', ...SUPPORT });
  await decideAndExpectApplied(ferry, id, 'confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await waitForProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
  const obtainedAt = new Date().toISOString();
  const supplied = companies.map(({ row: { reference }, credential }) => ({
    reference,
    fields: new Secret(credential),
    obtainedAt,
  }));
  await supplyCredentials(ferry.db, id, supplied, CLIENT.by);
  await decideAndExpectApplied(ferry, id, 'credentialsSupplied', { companies: rows.length, ...CLIENT });
  await waitForProgress(ferry, id, ({ firstCompany }) => firstCompany?.stage === 'proven');
  return id;
}

async function signOff(ferry: LedgerClient, id: string): Promise<void> {
  await waitForProgress(ferry, id, ({ waitingFor }) => waitingFor.roles.length === 2);
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'complete-migration', ...SUPPORT });
  await decideAndExpectApplied(ferry, id, 'approve', { step: 'complete-migration', ...CLIENT });
  await ferry.temporal.workflow.getHandle(id).result();
}

async function decideAndExpectApplied(
  ferry: LedgerClient,
  id: string,
  message: DecisionMessage,
  decision: Parameters<typeof decide>[3],
): Promise<void> {
  const { became, text } = await decide(ferry, id, message, decision);
  expect({ message, became, text }).toMatchObject({ became: 'applied' });
}

/** Saves the output of commands that succeed and of commands that fail. */
async function saveOutputs(env: NodeJS.ProcessEnv, ids: readonly string[]): Promise<void> {
  const ofEach = ids.flatMap((id) => [
    ...['show', 'companies', 'exceptions', 'report', 'audit', 'watch', 'go-nogo'].map((command) => [command, id]),
    ...[
      ['audit', id, '--format', 'jsonl'],
      ['approve', id, '--yes'],
      ['credentials', id, path.join(folder, 'none')],
    ],
  ]);
  const commands = [['list'], ['sweep'], ['vault', 'rotate'], ...ofEach];
  let outputs = 0;
  for (const command of commands) {
    for (const args of [command, [...command, '--json', '--debug']]) {
      const { out, err } = await ferryCommand(args, undefined, env);
      outputs += 1;
      writeFileSync(path.join(folder, 'outputs', `${outputs}.txt`), `${args.join(' ')}\n${out}\n${err}`);
    }
  }
}

interface Wire {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

/** Returns every payload of a migration's history in the form that the codec server takes. */
async function payloadsOf(ferry: LedgerClient, id: string): Promise<readonly Wire[]> {
  const base64 = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('base64');
  const below = (value: unknown): Wire[] => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
    if (!('metadata' in value) || !('data' in value) || typeof value.metadata !== 'object')
      return Object.values(value).flatMap(below);
    const metadata = Object.entries(value.metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
    return [{ metadata: Object.fromEntries(metadata) as Record<string, string>, data: base64(value.data) }];
  };
  return below(await ferry.withoutPayloads.workflow.getHandle(id).fetchHistory());
}

/** Saves the codec server's responses to callers without a token or with a wrong one, and to invalid bodies. */
async function saveResponses(payloads: readonly Wire[]): Promise<void> {
  const [ours, strangers] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const [issuer, audience, keySet] = ['https://identity.example', 'codec', path.join(folder, 'key-set.json')];
  writeFileSync(keySet, JSON.stringify({ keys: [{ ...(await exportJWK(ours.publicKey)), alg: 'ES256' }] }));
  const token = (namespaces: readonly string[], expires = '5 minutes', key = ours.privateKey): Promise<string> =>
    new SignJWT({ namespaces: [...namespaces], sub: 'somebody', iss: issuer, aud: audience })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(expires)
      .sign(key);
  const server = await startCodecServer({
    payloadKeys: parsePayloadKeys(new Secret(KEYS.payload)),
    origins: ['https://temporal.example'],
    verifyToken: await createTokenVerifier({ issuer, audience, keySet }),
    host: '127.0.0.1',
    port: 0,
    log: createLog({ level: 'trace', to: path.join(folder, 'logs', 'codec-server.log') }),
  });
  const ask = async (call: string, body: string, bearer?: string): Promise<string> => {
    const response = await fetch(`${server.url}/${call}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-namespace': 'default',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body,
    });
    return [response.status, JSON.stringify([...response.headers]), await response.text()].join('\n');
  };

  const encrypted = JSON.stringify({ payloads });
  const plain = JSON.stringify({ payloads: [{ metadata: {}, data: Buffer.from(SUPPORT.by).toString('base64') }] });
  const good = await token(['default']);
  const decoded = JSON.parse((await ask('decode', encrypted, good)).split('\n')[2] ?? '') as { payloads: Wire[] };
  expect(decoded.payloads.some(({ data }) => Buffer.from(data, 'base64').includes(SUPPORT.by))).toBe(true);

  const bad = [undefined, 'nonsense', SUPPORT.by, await token(['other']), await token(['default'], '5 minutes ago')];
  const bearers = [...bad, await token(['default'], '5 minutes', strangers.privateKey)];
  let answers = 0;
  const keep = (answer: string): void => {
    answers += 1;
    writeFileSync(path.join(folder, 'answers', `${answers}.txt`), answer);
  };
  const broken = encrypted.replace('"data":"', `"data":"*${SUPPORT.by}`);
  for (const bearer of bearers) {
    for (const body of [encrypted, plain, broken, `{"${SUPPORT.by}`]) {
      for (const call of ['decode', 'encode']) keep(await ask(call, body, bearer));
    }
  }
  // An authorized caller learns what is wrong with a body, without a quote of its content.
  for (const body of [broken, `{"${SUPPORT.by}`, `"${SUPPORT.by}"`]) keep(await ask('decode', body, good));
  for (const body of [encrypted, plain]) keep(await ask('encode', body, good));
  keep(await ask('else', encrypted));
  await server.close();
}
