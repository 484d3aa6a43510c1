import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { Client } from 'pg';
import pino from 'pino';
import { createKey, startService } from '../../company-data-service';
import { until } from '../support/conditions';
import { authorized, callerWith, newConnection, quickBooks, runService, settled, synced } from './running-service';

/** A logger that says everything, and what it has said. */
function recordingLogger() {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { logger: pino({ level: 'trace' }, stream), lines };
}

/** Answers how many rows there were. */
async function onDatabase(url: string, statement: string): Promise<number | null> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(statement);
  await client.end();
  return rowCount;
}

const AUTHORIZATIONS_UNDER_WAY = `
  select from pg_locks join pg_database on pg_database.oid = database
  where locktype = 'advisory' and datname = current_database()`;

const DROP_ALL_WHEN_ONE_WAITS = `
  do $$ begin
    while not exists (
      select from pg_stat_activity
      where application_name = 'company-data-service' and datname = current_database() and state = 'idle in transaction'
        and query like '%"applications"%'
    ) loop
      perform pg_sleep(0.01), pg_stat_clear_snapshot();
    end loop;
    perform pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'company-data-service' and datname = current_database();
  end $$`;

describe('the log', () => {
  it('has the correlation id of every request, and no key and no credential', async () => {
    const { logger, lines } = recordingLogger();
    const service = await runService({ logger });
    const { connection } = await newConnection(service.administrator);
    const body = { ...quickBooks('sbx-ok-3.top-secret'), accessToken: 'top-secret' };
    await service.administrator('PUT', `${connection}/authorization`, { body });
    // The row that cannot be stored holds the credential, and the database's answer would show the row.
    const table = 'company_data_service.credentials';
    await onDatabase(service.database.url, `alter table ${table} add check (fields = '{}') not valid`);
    const failed = await service.administrator('PUT', `${connection}/authorization`, {
      body: { ...body, refreshToken: 'sbx-ok-3.top-secret.2' },
    });
    // Of what has gone wrong inside it says nothing.
    expect(failed).toMatchObject({ status: 500 });
    expect(failed.body).toEqual({
      statusCode: 500,
      service: 'PublicApi',
      error: 'The service failed. Please try again later.',
      correlationId: failed.headers.get('x-correlation-id'),
      canBeRetried: 'Unknown',
      detailedErrorCode: 0,
    });
    await service.close();

    const log = lines.join('');
    expect(log).toContain(`"correlationId":"${failed.headers.get('x-correlation-id')}"`);
    expect(log).toContain('violates check constraint');
    expect(log).not.toContain('top-secret');
    expect(log).not.toContain('Basic ');
    expect(failed.text).not.toMatch(/top-secret|constraint/);
  });
});

describe('the service', () => {
  it('goes on when the database drops its connections, also one that waits for a platform in the middle of its work', async () => {
    const service = await runService();
    const { company } = await authorized(service.administrator, 'sbx-slow-300-ok-3');
    await service.client('POST', `${company}/data/all`);
    const { connection } = await newConnection(service.administrator);
    const cutShort = service.administrator('PUT', `${connection}/authorization`, {
      body: quickBooks('sbx-slow-2000-ok-3'),
    });
    await onDatabase(service.database.url, DROP_ALL_WHEN_ONE_WAITS);

    expect(await cutShort).toMatchObject({ status: 500 });
    expect(await settled(service.client, company)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
    // Also what is queued from now on is noticed.
    await synced(service.administrator, 'sbx-ok-3');
    await service.close();
  });

  it('says why it does not start, and lets go of everything', async () => {
    await expect(startService({ databaseUrl: 'postgres://127.0.0.1:1/none' })).rejects.toThrow();
  });
});

describe('closing', () => {
  const timeToClose = async (request: string) => {
    const service = await runService();
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('error', () => undefined);
    await until(async () => socket.bytesWritten === request.length);
    // A socket that nobody reads from says nothing of its end.
    const startedAt = performance.now();
    await service.close();
    socket.destroy();
    return performance.now() - startedAt;
  };

  it.each([
    ['leaves its answers unread', 'GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: any\r\n\r\n'.repeat(20)],
    ['does not finish its request', 'GET /companies HTTP/1.1\r\nHost: any\r\n'],
  ])('does not wait for a client that %s', async (_what, request) => {
    expect(await timeToClose(request)).toBeLessThan(8_000);
  });

  it('finishes an authorization that is under way, also when nobody can be told any more', async () => {
    const service = await runService();
    const { database, accountId } = service;
    const closing = await startService({ databaseUrl: database.url });
    const { key } = await createKey(database.url, { accountId, role: 'administrator' });
    const { connection } = await newConnection(service.administrator);
    // The platform is asked twice, and answers the second time when the client has been cut off.
    const body = quickBooks('sbx-slow-3000-ok-1');
    const answer = callerWith(closing.url, key)('PUT', `${connection}/authorization`, { body }).catch(() => 'cut off');
    await until(async () => (await onDatabase(database.url, AUTHORIZATIONS_UNDER_WAY)) === 1);
    await closing.close();
    expect(await answer).toBe('cut off');
    expect((await service.client('GET', connection)).body.status).toBe('Linked');
    await service.close();
  });
});
