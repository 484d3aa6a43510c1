/**
 * Supplies credentials and a client secret, which are unique markers, in the portal's own page in Chromium, and with
 * `ferry seal` and `ferry --portal`. Then searches everything that the portal handled and everything that was written:
 * the bytes of every connection to the portal, Temporal's data, Postgres's data with its write-ahead log, and all logs.
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { openLedgerClient, startMigration, type LedgerClient } from '../../client';
import { manifestDigest } from '../../cli/manifest';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey, startService } from '../../company-data-service';
import { loadConfig } from '../../config';
import { findPlatform } from '../../platforms/platforms';
import { startPortal } from '../../portal/server';
import { providerFingerprintOfMasterKeys, Secret } from '../../security';
import { createLog } from '../../security/log';
import { createTemporaryFolder } from '../../stack/folders';
import { startPostgres } from '../../stack/postgres/postgres';
import { startTemporal } from '../../stack/temporal/server';
import { createInvitation, grantPortalRole, markKeyConfirmed } from '../../store';
import { startWorker } from '../../worker';
import { TIMING } from '../../worker/timing';
import { ferry as ferryCommand } from '../cli/captured-terminal';
import { findChromium, openBrowser } from '../presentation/temporal-ui/browser';
import { registerApplications } from '../support/migrations/platforms';
import { createTestDatabase } from '../support/servers/database';
import { temporalCli } from '../support/servers/shared-servers';
import { SERVICE_CIPHER } from '../support/servers/keys';
import { waitForProgress } from '../workflows/running-migration';
import { createMarker, filesBelow, findMarkers } from './leak-search';
import { applyDecision, CLIENT, SUPPORT } from './marked-migrations';

const chromium = findChromium();
const testWithChromium = chromium === undefined ? test.skip : test;

/** The folder for the data and logs of Temporal, Postgres, the worker and the portal, and for recorded connections. */
let folder: string;
/** The home folder on the client's machine. */
let home: string;
beforeAll(() => {
  [folder, home] = [createTemporaryFolder(), createTemporaryFolder()];
  for (const name of ['logs', 'vault-secrets', 'connections']) mkdirSync(path.join(folder, name));
});
afterAll(() => {
  for (const each of [folder, home]) rmSync(each, { recursive: true, force: true });
});

const CLEO = createMarker('content');
const CLARA = createMarker('content');
const SECRET = createMarker('credential');
const COMPANIES = [1, 2, 3].map((row) => ({
  reference: `R-${row}`,
  name: createMarker('content'),
  organization: String(7_000_000_000_000_000 + row),
  accessToken: createMarker('credential'),
  refreshToken: `sbx-ok-1.${createMarker('credential')}`,
}));

/** Returns the client's file of credentials for some companies, obtained now. */
const fileOf = (rows: readonly number[]): string =>
  [
    'reference,accessToken,refreshToken,realmId,obtainedAt',
    ...COMPANIES.filter((_, index) => rows.includes(index + 1)).map((each) =>
      [each.reference, each.accessToken, each.refreshToken, each.organization, new Date().toISOString()].join(','),
    ),
    '',
  ].join('\n');

testWithChromium(
  'nothing that the portal handles, and nothing that is written, contains a credential or secret that was supplied in it',
  async () => {
    await supplyEverything();
    const written = filesBelow(folder);
    const below = (name: string): readonly string[] =>
      written.filter((file) => file.startsWith(path.join(folder, name)));
    for (const name of ['temporal', 'postgres', 'logs', 'connections']) expect(below(name)).not.toHaveLength(0);
    expect(below('postgres').some((file) => file.includes('pg_wal'))).toBe(true);
    // Names are in the ledger and pass through the portal. Finding them proves that the search works.
    expect(findMarkers('content', below('postgres'))).not.toEqual([]);
    expect(findMarkers('content', below('connections'))).not.toEqual([]);
    expect(below('connections').some((file) => readFileSync(file).includes('"sealedDigest"'))).toBe(true);

    expect(findMarkers('credential', written)).toEqual([]);
    expect(findMarkers('content', [...below('temporal'), ...below('logs')])).toEqual([]);
  },
  300_000,
);

async function supplyEverything(): Promise<void> {
  const servers = { ephemeral: false, log: () => undefined, port: 0, uiPort: 0 };
  const temporal = await startTemporal({ ...servers, dataFolder: path.join(folder, 'temporal'), cli: temporalCli() });
  const postgres = await startPostgres({ ...servers, dataFolder: path.join(folder, 'postgres') });
  const serviceDatabase = await createTestDatabase();
  const service = await startService({
    ...{ databaseUrl: serviceDatabase.url, cipher: SERVICE_CIPHER, requestsPerMinute: 100_000 },
    ...{ syncBaseMs: 50, syncMsPerRecord: 1 },
  });
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const serviceClient = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(key) });
  await registerApplications(serviceClient);
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    {
      TOKENFERRY_HOME: folder,
      TOKENFERRY_LOG_LEVEL: 'trace',
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
      DATABASE_URL: postgres.url,
      COMPANY_DATA_URL: service.url,
      COMPANY_DATA_API_KEY: key,
      TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
      TOKENFERRY_VAULT_SECRETS: path.join(folder, 'vault-secrets'),
      TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
    },
  );
  const ferry = await openLedgerClient(config, { createLedger: true });
  const logOf = (name: string) => createLog({ level: 'trace', to: path.join(folder, 'logs', `${name}.log`) });
  const code = readFileSync(path.join(__dirname, '../../dist/workflow-bundle.js'), 'utf8');
  const worker = await startWorker(config, logOf('worker'), { workflowBundle: { code } }, TIMING);
  const recorder = await startRecorder();
  const databaseUrl = new URL(postgres.url);
  [databaseUrl.username, databaseUrl.password] = ['the_portal', 'password'];
  await grantPortalRole(ferry.db, new Secret(databaseUrl.href));
  const publicUrl = `http://127.0.0.1:${recorder.port}`;
  const portal = await startPortal({
    ...{ databaseUrl: databaseUrl.href, port: 0, publicUrl, log: logOf('portal') },
    pageFolder: path.join(__dirname, '../../dist/portal/page'),
  });
  recorder.sendTo(Number(new URL(portal.localUrl).port));

  const id = await startedMigration(ferry);
  const provider = providerFingerprintOfMasterKeys(config.masterKeys);
  await supplyInPage(ferry, id, { publicUrl, provider });
  await supplySealed(ferry, id, { publicUrl, provider });
  await waitForProgress(ferry, id, ({ firstCompany }) => firstCompany?.stage === 'verified');
  await applyDecision(ferry, id, 'approve', { step: 'migrate-first-company', ...SUPPORT });
  await waitForProgress(ferry, id, ({ counts }) => counts.moved === COMPANIES.length);

  await portal.close();
  await recorder.close();
  await worker.stop();
  await ferry.close();
  await serviceClient.close();
  await service.close();
  await temporal.stop();
  await postgres.stop();
  await serviceDatabase.drop();
}

/** Starts a migration, and returns once the client can supply the application. */
async function startedMigration(ferry: LedgerClient): Promise<string> {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('the platform table has no quickbooks-online');
  const rows = COMPANIES.map(({ reference, name, organization }, index) => ({
    ...{ row: index + 1, reference, name, organization, expectedInvoices: null, wave: null, family: null },
  }));
  const id = await startMigration(ferry, {
    ...{ client: 'portal', platform, rows, manifestDigest: manifestDigest(rows), contact: createMarker('content') },
    ...{ by: SUPPORT.by, firstCompany: null },
  });
  await waitForProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  return id;
}

/** Takes the migration from its supplied application to the point where credentials can be supplied. */
async function takeToCredentials(ferry: LedgerClient, id: string): Promise<void> {
  await waitForProgress(
    ferry,
    id,
    ({ preflight, checking }) => preflight?.application?.suppliedBy === CLEO && !checking,
  );
  await applyDecision(ferry, id, 'approve', { step: 'supply-details', ...SUPPORT });
  await applyDecision(ferry, id, 'proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  for (const step of ['schedule', 'update-application']) {
    await applyDecision(ferry, id, 'approve', { step, ...CLIENT });
    await applyDecision(ferry, id, 'approve', { step, ...SUPPORT });
  }
  await applyDecision(ferry, id, 'confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await waitForProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
}

interface PortalLink {
  readonly publicUrl: string;
  readonly provider: string;
}

async function invite(ferry: LedgerClient, migrationId: string, person: string) {
  const expiresAt = new Date(Date.now() + 3_600_000);
  return createInvitation(ferry.db, { migrationId, person, role: 'client', email: null, createdBy: 'Sam', expiresAt });
}

/** Supplies the application and the credentials of two companies in the page. */
async function supplyInPage(ferry: LedgerClient, migrationId: string, { publicUrl, provider }: PortalLink) {
  const invitation = await invite(ferry, migrationId, CLEO);
  const browser = await openBrowser(chromium ?? '');
  try {
    const page = await browser.newPage();
    await page.goto(`${publicUrl}/#invitation=${invitation.token}&provider=${provider}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    await markKeyConfirmed(ferry.db, invitation.id);
    await page.reload();

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Supply your application' }).click();
    await dialog.getByLabel('Client id').fill('the-clients-own');
    await dialog.getByLabel('Environment').selectOption('production');
    await dialog.getByLabel('Client secret').fill(SECRET);
    await dialog.getByRole('button', { name: 'Supply your application' }).click();
    await dialog.getByText('✓ The application is the-clients-own (production).').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await takeToCredentials(ferry, migrationId);

    await page.getByRole('button', { name: 'Supply credentials' }).click();
    const buffer = Buffer.from(fileOf([1, 2]));
    await page.getByLabel('Credential file').setInputFiles({ name: 'credentials.csv', mimeType: 'text/csv', buffer });
    await page.getByText('✓ 2 credentials can be sent.').waitFor();
    await dialog.getByRole('button', { name: 'Supply credentials' }).click();
    await dialog.getByText('✓ 2 credentials supplied.').waitFor();
  } finally {
    await browser.close();
  }
}

/**
 * Seals the credential of the last company on the client's machine, and sends the sealed file with `ferry --portal`.
 */
async function supplySealed(ferry: LedgerClient, migrationId: string, { publicUrl, provider }: PortalLink) {
  const invitation = await invite(ferry, migrationId, CLARA);
  const env = { TOKENFERRY_HOME: path.join(home, 'tokenferry') };
  const run = async (...args: string[]): Promise<void> => {
    const { exitCode, out, err } = await ferryCommand(['--portal', ...args], undefined, env);
    expect({ args: args.slice(1), exitCode, out, err }).toMatchObject({ exitCode: 0 });
  };
  await run(`${publicUrl}/#invitation=${invitation.token}&provider=${provider}`, 'sign-in');
  await markKeyConfirmed(ferry.db, invitation.id);
  const file = path.join(home, 'credentials.csv');
  writeFileSync(file, fileOf([3]));
  await run(publicUrl, 'seal', file);
  await run(publicUrl, 'credentials', `${file}.sealed`);
}

/** Forwards connections, and writes all of their bytes to files. */
async function startRecorder() {
  let target = 0;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const portal = connect({ host: '127.0.0.1', port: target });
    const file = path.join(folder, 'connections', String(connections));
    client.pipe(createWriteStream(`${file}.received`));
    portal.pipe(createWriteStream(`${file}.sent`));
    client.pipe(portal).pipe(client);
    for (const socket of [client, portal])
      socket.on('error', () => undefined).on('close', () => [client, portal].forEach((each) => each.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sendTo: (port: number) => (target = port),
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
