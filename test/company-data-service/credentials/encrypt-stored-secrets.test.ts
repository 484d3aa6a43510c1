import { Client } from 'pg';
import { createAccount, createKey, startService, type Service } from '../../../company-data-service';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { serviceCipher } from '../../support/servers/keys';
import { callerWith, newConnection, waitForSyncs, type Caller } from '../running-service';

const TOKEN = 'sbx-ok-4.marker-of-a-token';
const SECRET = 'marker-of-a-client-secret';

let database: TestDatabase;
let inspector: Client;
let service: Service | undefined;
let key: string;

beforeEach(async () => {
  database = await createTestDatabase();
  inspector = new Client({ connectionString: database.url });
  await inspector.connect();
  await inspector.query('set search_path to company_data_service');
  const accountId = await createAccount(database.url, { name: 'Example', plan: 'paid' });
  ({ key } = await createKey(database.url, { accountId, role: 'administrator' }));
});

afterEach(async () => {
  await stop();
  await inspector.end();
  await database.drop();
});

async function start(keys: string): Promise<Caller> {
  const pace = { syncBaseMs: 0, syncMsPerRecord: 0 };
  service = await startService({ databaseUrl: database.url, cipher: serviceCipher(keys), ...pace });
  return callerWith(service.url, key);
}

async function stop(): Promise<void> {
  await service?.close();
  service = undefined;
}

/**
 * Registers an application, and authorizes a connection to a platform that does not rotate refresh tokens. Returns the
 * company's path.
 */
async function storeSecrets(call: Caller): Promise<string> {
  const application = { clientId: 'acme', clientSecret: SECRET, environment: 'production' };
  await call('PUT', '/integrations/rwuv/credentials', { body: application });
  const { company, connection } = await newConnection(call, 'rwuv');
  const body = { accessToken: TOKEN, refreshToken: TOKEN, organizationId: '7', region: 'eu' };
  expect((await call('PUT', `${connection}/authorization`, { body })).body.status).toBe('Linked');
  return company;
}

async function syncedInvoices(call: Caller, company: string): Promise<number> {
  await call('POST', `${company}/data/all`);
  expect(await waitForSyncs(call, company)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
  return (await call('GET', `${company}/data/invoices`)).body.totalResults;
}

/** Returns the tables that contain a marker, as text or as bytes, and the columns whose statistics contain a marker. */
async function placesOfMarkers(): Promise<string[]> {
  const { rows: tables } = await inspector.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'company_data_service'::regnamespace and relkind = 'r'`,
  );
  const forms = ['marker-of-a', Buffer.from('marker-of-a').toString('hex')];
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await inspector.query<{ text: string }>(`select t::text as text from ${name} t`);
    if (rows.some(({ text }) => forms.some((form) => text.includes(form)))) found.push(name);
  }
  const { rows: statistics } = await inspector.query<{ name: string; text: string }>(
    `select attname as name, s::text as text from pg_stats s where schemaname = 'company_data_service'`,
  );
  return [...found, ...statistics.filter(({ text }) => text.includes('marker-of-a')).map(({ name }) => name)];
}

async function fileOf(table: string): Promise<unknown> {
  return (await inspector.query('select pg_relation_filenode($1::regclass)', [table])).rows[0];
}

describe('the secrets that the service stores', () => {
  it('are not readable in the database, and the service can use them', async () => {
    const call = await start('a');
    const company = await storeSecrets(call);
    expect(await syncedInvoices(call, company)).toBe(4);
    await inspector.query('analyze');
    expect(await placesOfMarkers()).toEqual([]);
  });

  it('are encrypted when the service starts, if they were stored as plain text', async () => {
    const company = await storeSecrets(await start('a'));
    await stop();
    const fields = JSON.stringify({ accessToken: TOKEN, refreshToken: TOKEN, organizationId: '7', region: 'eu' });
    await inspector.query('update credentials set encrypted_fields = null, plain_fields = $1', [fields]);
    await inspector.query('update applications set encrypted_secret = null, plain_secret = $1', [SECRET]);
    await inspector.query('analyze');
    expect(await placesOfMarkers()).toEqual(expect.arrayContaining(['credentials', 'applications']));
    const files = [await fileOf('credentials'), await fileOf('applications')];

    const call = await start('a');
    expect(await placesOfMarkers()).toEqual([]);
    // The old files contain the plain text, even of deleted rows, so the tables must be in new files.
    expect(await fileOf('credentials')).not.toEqual(files[0]);
    expect(await fileOf('applications')).not.toEqual(files[1]);
    expect(await syncedInvoices(call, company)).toBe(4);
  });

  it('are encrypted under the newest key when the service starts, so that the older key can be removed', async () => {
    const company = await storeSecrets(await start('a'));
    await stop();
    await start('ba');
    await stop();
    expect(await syncedInvoices(await start('b'), company)).toBe(4);
    await stop();
    await expect(start('a')).rejects.toThrow(/encrypted under service key [0-9a-f]{16}, but the service only has/);
  });

  it('cannot be used in the row of another connection', async () => {
    const call = await start('a');
    const [one, other] = [await storeSecrets(call), await storeSecrets(call)];
    await inspector.query(`
      update credentials set encrypted_fields = another.encrypted_fields from credentials another
      where another.connection_id <> credentials.connection_id`);
    for (const company of [one, other]) {
      await call('POST', `${company}/data/all`);
      expect(await waitForSyncs(call, company)).toMatchObject({ invoices: { currentStatus: 'InternalError' } });
    }
  });
});
