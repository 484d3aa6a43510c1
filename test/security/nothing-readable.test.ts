/**
 * Companies are moved whose credentials, names, approvers and reasons are markers that occur nowhere else, through success,
 * failure, a killed worker and a cancellation. Then everything that was written is searched for them.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import type { Ferry } from '../../client/ferry';
import { decide, openFerry, startMigration } from '../../client/ferry';
import { manifestDigest } from '../../client/manifest';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey, startService } from '../../company-data-service';
import { loadConfig } from '../../config';
import { startPostgres } from '../../dev/postgres';
import { startTemporal } from '../../dev/temporal-server';
import { createTemporaryFolder } from '../../dev/temporary-folder';
import { findPlatform } from '../../domain/platforms';
import type { DecisionMessage } from '../../domain/read-decision';
import { Secret } from '../../security';
import { countCompanies, supplyCredentials } from '../../store';
import { startWorker } from '../../worker';
import { reachedProgress } from '../migration/started';
import { registerApplications } from '../support/applications';
import { until } from '../support/conditions';
import { createTestDatabase } from '../support/database';
import { startWorkerProcess } from '../support/worker-process';

const made: { readonly kind: 'credential' | 'content'; readonly text: string }[] = [];
/** A text that is nowhere else, so that whatever is found of it came from here. */
function marker(kind: (typeof made)[number]['kind']): string {
  const text = `mark${randomBytes(12).toString('hex')}`;
  made.push({ kind, text });
  return text;
}

let folder: string;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SUPPORT = { role: 'support', by: marker('content') } as const;
const CLIENT = { role: 'client', by: marker('content') } as const;
let organizations = 6_000_000_000_000_000;

test('nothing of a credential is written anywhere, and nothing of a name to Temporal or a log', async () => {
  await move();
  const written = filesBelow(folder);
  const inTemporal = written.filter((file) => file.includes(`${path.sep}temporal`));
  const inPostgres = written.filter((file) => file.includes(`${path.sep}postgres${path.sep}`));
  const logs = written.filter((file) => file.endsWith('.log'));
  expect([inTemporal.length, inPostgres.length, logs.length].every((count) => count > 0)).toBe(true);

  // The search finds what is there: a name stands in the ledger, which is its place.
  const [name] = made.filter(({ kind }) => kind === 'content').slice(-1);
  expect(found([name?.text ?? ''], inPostgres)).not.toEqual([]);

  const of = (kind: string): readonly string[] => made.filter((each) => each.kind === kind).map(({ text }) => text);
  expect(found(of('credential'), written)).toEqual([]);
  expect(found(of('content'), [...inTemporal, ...logs])).toEqual([]);
}, 240_000);

/** Moves three migrations' companies, each its own way, and stops everything. */
async function move(): Promise<void> {
  const servers = { ephemeral: false, log: () => undefined, port: 0, uiPort: 0 };
  const cli = process.env['TOKENFERRY_TEST_TEMPORAL_CLI'] ?? '';
  const temporal = await startTemporal({ ...servers, dataFolder: path.join(folder, 'temporal'), cli });
  const postgres = await startPostgres({ ...servers, dataFolder: path.join(folder, 'postgres') });
  const serviceDatabase = await createTestDatabase();
  const service = await startService({
    databaseUrl: serviceDatabase.url,
    requestsPerMinute: 100_000,
    syncBaseMs: 50,
    syncMsPerRecord: 1,
  });
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  made.push({ kind: 'credential', text: key });
  const direct = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(key) });
  await registerApplications(direct);
  const variables = {
    TOKENFERRY_HOME: folder,
    TOKENFERRY_LOG_LEVEL: 'trace',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    DATABASE_URL: postgres.url,
    COMPANY_DATA_URL: service.url,
    COMPANY_DATA_API_KEY: key,
    TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
    TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
  };
  const config = loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'payloadKeys', 'webhook'], variables);
  const ferry = await openFerry(config);
  mkdirSync(path.join(folder, 'logs'));
  const log = pino({ level: 'trace' }, pino.destination({ dest: path.join(folder, 'logs', 'worker.log'), sync: true }));
  const code = readFileSync(path.join(__dirname, '../../dist/workflow-bundle.js'), 'utf8');

  const doomed = await startWorkerProcess(variables);
  const killed = await readyToMove(ferry, 'killed', ['sbx-ok-1', 'sbx-slow-3000-ok-1', 'sbx-slow-3000-ok-1']);
  await sent(ferry, killed, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await until(async () => (await countCompanies(ferry.db, killed)).waiting < 2, 30_000);
  await doomed.kill();

  const worker = await startWorker(config, log, { workflowBundle: { code } });
  const moved = await readyToMove(ferry, 'moved', ['sbx-ok-1', 'sbx-ok-1', 'sbx-revoked']);
  await sent(ferry, moved, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await reachedProgress(ferry, moved, ({ counts }) => counts.failed === 1 && counts.migrated === 2);
  await sent(ferry, moved, 'skip', { companies: ['R-3'], reason: marker('content'), ...SUPPORT });
  await signedOff(ferry, moved);
  const cancelled = await readyToMove(ferry, 'cancelled', ['sbx-ok-1', 'sbx-ok-1']);
  await sent(ferry, cancelled, 'cancel', { reason: marker('content'), ...CLIENT });
  await until(async () => (await countCompanies(ferry.db, killed)).migrated === 3, 60_000);
  await signedOff(ferry, killed);

  await worker.stop();
  await ferry.close();
  await direct.close();
  await service.close();
  await temporal.stop();
  await postgres.stop();
  await serviceDatabase.drop();
}

async function readyToMove(ferry: Ferry, client: string, tokens: readonly string[]): Promise<string> {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('the platform table lacks it');
  const companies = tokens.map((token, index) => {
    organizations += 1;
    const organization = String(organizations);
    const refreshToken = `${token}.${organization}`;
    made.push({ kind: 'credential', text: refreshToken });
    return {
      credential: { accessToken: marker('credential'), refreshToken, realmId: organization },
      row: {
        row: index + 1,
        reference: `R-${index + 1}`,
        name: marker('content'),
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
    contact: marker('content'),
    by: SUPPORT.by,
    firstCompany: null,
  });
  await reachedProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  await sent(ferry, id, 'approve', { step: 'supply-details', ...SUPPORT });
  await sent(ferry, id, 'proposeTime', { startAt: new Date().toISOString(), reason: marker('content'), ...SUPPORT });
  await sent(ferry, id, 'approve', { step: 'schedule', ...SUPPORT });
  await sent(ferry, id, 'approve', { step: 'schedule', ...CLIENT });
  await sent(ferry, id, 'approve', { step: 'update-application', ...CLIENT });
  await sent(ferry, id, 'approve', { step: 'update-application', ...SUPPORT });
  await sent(ferry, id, 'confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await reachedProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
  const obtainedAt = new Date().toISOString();
  const supplied = companies.map(({ row: { reference }, credential }) => ({
    reference,
    fields: new Secret(credential),
    obtainedAt,
  }));
  await supplyCredentials(ferry.db, id, supplied, CLIENT.by);
  await sent(ferry, id, 'credentialsSupplied', { companies: rows.length, ...CLIENT });
  await reachedProgress(ferry, id, ({ firstCompany }) => firstCompany?.stage === 'proven');
  return id;
}

async function signedOff(ferry: Ferry, id: string): Promise<void> {
  await reachedProgress(ferry, id, ({ waitingFor }) => waitingFor.roles.length === 2);
  await sent(ferry, id, 'approve', { step: 'complete-migration', ...SUPPORT });
  await sent(ferry, id, 'approve', { step: 'complete-migration', ...CLIENT });
  await ferry.temporal.workflow.getHandle(id).result();
}

async function sent(
  ferry: Ferry,
  id: string,
  message: DecisionMessage,
  decision: Parameters<typeof decide>[3],
): Promise<void> {
  const { became, text } = await decide(ferry, id, message, decision);
  expect({ message, became, text }).toMatchObject({ became: 'applied' });
}

function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** In which files one of these texts stands, whichever way it was written. */
function found(texts: readonly string[], files: readonly string[]): readonly string[] {
  const forms = texts.flatMap((text) => formsOf(text).map((form) => ({ text, form })));
  return files.flatMap((file) => {
    const content = readFileSync(file);
    return forms
      .filter(({ form }) => content.includes(form))
      .map(({ text, form }) => `${file}: ${text} as ${form.toString()}`);
  });
}

/** Plain, in UTF-16, hex, URL-encoded, and in base64 wherever in a longer text it may begin. */
function formsOf(text: string): readonly (string | Buffer)[] {
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'-'.repeat(before)}${text}`).toString('base64');
    // Without the characters that its neighbours share.
    return encoded.slice(before === 0 ? 0 : 4, -4);
  });
  const bytes = Buffer.from(text);
  return [text, Buffer.from(text, 'utf16le'), bytes.toString('hex'), encodeURIComponent(text), ...base64];
}
