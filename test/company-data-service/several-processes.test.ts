import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { createAccount, createKey, startService } from '../../company-data-service';
import { DATA_TYPES } from '../../company-data-service/platform/data-types';
import { until } from '../support/async';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';
import { newAuthorizedConnection, newConnection, callerWith, waitForSyncs, type Body } from './running-service';
import { SERVICE_CIPHER } from '../support/servers/keys';

const COMPANIES = 6;
const INVOICES = 300;

let database: TestDatabase;
let inspector: Client;
let key: string;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const accountId = await createAccount(database.url, { name: 'Example', plan: 'paid' });
  ({ key } = await createKey(database.url, { accountId, role: 'administrator' }));
  inspector = new Client({ connectionString: database.url });
  await inspector.connect();
  // Record the end of every sync and every push operation, in any process.
  await inspector.query(`
    create table ends (sync_id uuid);
    create function trace() returns trigger language plpgsql as
      $$ begin insert into public.ends values (new.id); return new; end $$;
    create trigger ends after update on company_data_service.syncs
      for each row when (new.completed_at is not null) execute function trace();
    create table push_ends (push_id uuid);
    create function trace_push() returns trigger language plpgsql as
      $$ begin insert into public.push_ends values (new.id); return new; end $$;
    create trigger push_ends after update on company_data_service.push_operations
      for each row when (new.completed_at is not null) execute function trace_push();`);
});

afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await inspector.end();
  await database.drop();
});

async function startProcess(): Promise<{ url: string; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [require.resolve('./service-process.js'), database.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  const lines = createInterface({ input: child.stdout });
  const [url] = (await once(lines, 'line')) as [string];
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Creates companies and queues all of their syncs. */
async function startSyncs(url: string): Promise<string[]> {
  const call = callerWith(url, key);
  const companies = await Promise.all(
    Array.from({ length: COMPANIES }, async () => (await newAuthorizedConnection(call, `sbx-ok-${INVOICES}`)).company),
  );
  for (const company of companies) await call('POST', `${company}/data/all`);
  return companies;
}

async function expectEachSyncedOnce(url: string, companies: readonly string[]): Promise<void> {
  const call = callerWith(url, key);
  for (const company of companies) {
    await waitForSyncs(call, company);
    const { body } = await call('GET', `${company}/data/history`);
    expect(body.totalResults).toBe(DATA_TYPES.length);
    expect(body.results.map(({ status }: Body) => status)).toEqual(DATA_TYPES.map(() => 'Complete'));
    const invoices = (await call('GET', `${company}/data/invoices?pageSize=5000`)).body;
    expect(new Set(invoices.results.map(({ id }: Body) => id)).size).toBe(INVOICES);
    const ids = body.results.map(({ id }: Body) => id);
    const ends = await inspector.query('select sync_id from ends where sync_id = any($1)', [ids]);
    expect(ends.rowCount).toBe(DATA_TYPES.length);
  }
}

async function syncsInProgress(): Promise<number> {
  const { rows } = await inspector.query<{ cursor: string }>(
    `select cursor from company_data_service.syncs where due_at is not null and cursor <> '0'`,
  );
  return rows.length;
}

/** Returns 1 if a refresh token has been used up, otherwise 0, as another database session sees it. */
async function usesOf(refreshToken: string): Promise<number | null> {
  const { rowCount } = await inspector.query(
    'select from company_data_service.sandbox_tokens where digest = sha256($1::bytea) and spent_at is not null',
    [refreshToken],
  );
  return rowCount;
}

describe('several processes of the service', () => {
  it('can prepare an empty database at the same time', async () => {
    const empty = await createTestDatabase();
    const services = await Promise.all(
      Array.from({ length: 4 }, () => startService({ cipher: SERVICE_CIPHER, databaseUrl: empty.url })),
    );
    for (const { url } of services) expect(await callerWith(url)('GET', '/healthz')).toMatchObject({ status: 200 });
    await Promise.all(services.map((service) => service.close()));
    await empty.drop();
  });

  it('together accept exactly as many requests as the rate limit of a key allows', async () => {
    const fresh = await createTestDatabase();
    const accountId = await createAccount(fresh.url, { name: 'Limited', plan: 'paid' });
    const limited = await createKey(fresh.url, { accountId, role: 'client' });
    const settings = { databaseUrl: fresh.url, cipher: SERVICE_CIPHER, requestsPerMinute: 100 };
    const services = await Promise.all([startService(settings), startService(settings)]);
    const statuses = await Promise.all(
      Array.from({ length: 240 }, async (_, index) => {
        const { url } = services[index % 2] ?? { url: '' };
        return (await callerWith(url, limited.key)('GET', '/account')).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(140);
    await Promise.all(services.map((service) => service.close()));
    await fresh.drop();
  });

  it('complete each sync exactly once', async () => {
    const [one, two] = await Promise.all([startProcess(), startProcess()]);
    await expectEachSyncedOnce(two.url, await startSyncs(one.url));
    await Promise.all([one.kill(), two.kill()]);
  });

  it('complete each sync exactly once even after kill -9', async () => {
    const killed = await startProcess();
    const companies = await startSyncs(killed.url);
    while ((await syncsInProgress()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await killed.kill();
    expect(await syncsInProgress()).toBeGreaterThan(0);
    const successor = await startProcess();
    await expectEachSyncedOnce(successor.url, companies);
    await successor.kill();
  });

  it('complete each push operation exactly once even after kill -9', async () => {
    const killed = await startProcess();
    const call = callerWith(killed.url, key);
    const { company, connection } = await newAuthorizedConnection(call, 'sbx-slow-3000-ok-1');
    for (let index = 0; index < 5; index += 1) {
      await call('POST', `${connection}/push/invoices`, { body: { invoiceNumber: `INV-${index}` } });
    }
    const accepted = async () =>
      (await inspector.query('select from company_data_service.push_operations where provider_status_code = 202'))
        .rowCount;
    await until(async () => (await accepted()) === 5);
    await killed.kill();
    const successor = await startProcess();
    const pushes = `${company}/push?query=${encodeURIComponent('status=Success')}`;
    await until(async () => (await callerWith(successor.url, key)('GET', pushes)).body.totalResults === 5);
    expect((await inspector.query('select from push_ends')).rowCount).toBe(5);
    await callerWith(successor.url, key)('POST', `${company}/data/all`);
    await waitForSyncs(callerWith(successor.url, key), company);
    const invoices = await callerWith(successor.url, key)('GET', `${company}/data/invoices`);
    expect(invoices.body.totalResults).toBe(1 + 5);
    await successor.kill();
  });

  it.each([
    ['qhyg', { accessToken: 'access', realmId: '7' }],
    ['vxvy', { accessToken: 'access', accountId: '7', businessId: '8' }],
  ])(
    'accept the same authorization of %s again after kill -9 between the refresh and its commit',
    async (platformKey, fields) => {
      const refreshToken = `sbx-ok-3.killed-${platformKey}`;
      const body = { ...fields, refreshToken };
      const killed = await startProcess();
      const { company, connection } = await newConnection(callerWith(killed.url, key), platformKey);
      // The service waits for this lock before it commits.
      await inspector.query('begin');
      const id = connection.split('/').at(-1);
      await inspector.query('select from company_data_service.connections where id = $1 for no key update', [id]);
      const answer = callerWith(killed.url, key)('PUT', `${connection}/authorization`, { body }).catch(() => 'lost');
      await until(async () => (await usesOf(refreshToken)) === 1);
      await killed.kill();
      expect(await answer).toBe('lost');
      await inspector.query('rollback');

      const successor = await startProcess();
      const call = callerWith(successor.url, key);
      expect((await call('GET', connection)).body.status).toBe('PendingAuth');
      // The client's own application does not get the new tokens.
      const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
      expect(await call('POST', `/sandbox/${platformKey}/token`, { body: refresh })).toMatchObject({ status: 400 });
      expect((await call('PUT', `${connection}/authorization`, { body })).body.status).toBe('Linked');
      await call('POST', `${company}/data/all`);
      expect(await waitForSyncs(call, company)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
      expect((await inspector.query('select from company_data_service.token_exchanges')).rowCount).toBe(0);
      await successor.kill();
    },
  );

  it('run the syncs that another process has queued', async () => {
    const idle = await startProcess();
    const queueing = await startProcess();
    const companies = await startSyncs(queueing.url);
    await queueing.kill();
    await expectEachSyncedOnce(idle.url, companies);
    await idle.kill();
  });
});
