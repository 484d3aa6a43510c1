import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { Client } from 'pg';
import pino from 'pino';
import { createKey, startService } from '../../company-data-service';
import { until } from '../support/async';
import {
  newAuthorizedConnection,
  callerWith,
  newConnection,
  quickBooksCredential,
  runService,
  waitForSyncs,
  newSyncedConnection,
} from './running-service';
import { SERVICE_CIPHER } from '../support/servers/keys';
import { execute } from '../support/servers/database';

/** Creates a logger at the lowest level, and returns it with the lines that it writes. */
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

const AUTHORIZATIONS_IN_PROGRESS = `
  select from pg_locks join pg_database on pg_database.oid = database
  where locktype = 'advisory' and datname = current_database()`;

const DROP_CONNECTIONS_WHEN_ONE_IS_WAITING = `
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
  it('contains the correlation id of a failed request, but no key and no credential', async () => {
    const { logger, lines } = recordingLogger();
    const service = await runService({ logger });
    const { connection } = await newConnection(service.administrator);
    const body = { ...quickBooksCredential('sbx-ok-3.top-secret'), accessToken: 'top-secret' };
    await service.administrator('PUT', `${connection}/authorization`, { body });
    // Make storing fail: the database's error contains the row, and the row contains the encrypted credential.
    const table = 'company_data_service.credentials';
    await execute(service.database.url, `alter table ${table} add check (accepted_digest = '') not valid`);
    const failed = await service.administrator('PUT', `${connection}/authorization`, {
      body: { ...body, refreshToken: 'sbx-ok-3.top-secret.2' },
    });
    // The response reveals nothing about the internal error.
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
  it('recovers after the database has dropped all connections, even a connection that was waiting for a platform', async () => {
    const service = await runService();
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-slow-300-ok-3');
    await service.client('POST', `${company}/data/all`);
    const { connection } = await newConnection(service.administrator);
    const interrupted = service.administrator('PUT', `${connection}/authorization`, {
      body: quickBooksCredential('sbx-slow-2000-ok-3'),
    });
    await execute(service.database.url, DROP_CONNECTIONS_WHEN_ONE_IS_WAITING);

    expect(await interrupted).toMatchObject({ status: 500 });
    expect(await waitForSyncs(service.client, company)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
    // The sync engine still notices newly queued syncs.
    await newSyncedConnection(service.administrator, 'sbx-ok-3');
    await service.close();
  });

  it('leaves no connection open when it cannot listen for new work', async () => {
    const query = Reflect.get(Client.prototype, 'query') as (this: Client, ...given: unknown[]) => unknown;
    const pids: unknown[] = [];
    const failing = jest.spyOn(Client.prototype, 'query').mockImplementation(function (
      this: Client,
      ...given: unknown[]
    ) {
      if (!String(given[0]).startsWith('listen ')) return query.apply(this, given);
      pids.push(Reflect.get(this, 'processID'));
      return query.call(this, 'select 1 / 0');
    });
    const service = await runService();
    await until(() => pids.length === 2);
    failing.mockRestore();
    const ended = 'select pid, pg_terminate_backend(pid) from pg_stat_activity where pid = any ($1)';
    const { rows } = await execute(service.database.url, ended, [pids]);
    expect(rows).not.toContainEqual(expect.objectContaining({ pid: pids[0] }));
    await service.close();
  });

  it('finishes an authorization although more requests are waiting for it than its pool has connections', async () => {
    const service = await runService({ databaseConnections: 2 });
    const { connection } = await newConnection(service.administrator);
    const body = quickBooksCredential('sbx-slow-1000-ok-1');
    const authorized = service.administrator('PUT', `${connection}/authorization`, { body });
    await until(async () => (await execute(service.database.url, AUTHORIZATIONS_IN_PROGRESS)).rowCount === 1);
    const unlink = () => service.client('PATCH', connection, { body: { status: 'Unlinked' } });
    const answers = await Promise.all([authorized, unlink(), unlink(), unlink()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await service.close();
  });

  it('deletes more companies at the same time than its pool has connections while it syncs them', async () => {
    const service = await runService({ databaseConnections: 2, syncBaseMs: 0, syncMsPerRecord: 0 });
    const companies = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { company } = await newAuthorizedConnection(service.administrator, `sbx-ok-2000.company-${index}`);
        return company;
      }),
    );
    await Promise.all(companies.map((company) => service.client('POST', `${company}/data/all`)));
    const answers = await Promise.all(companies.map((company) => service.client('DELETE', company)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    await service.close();
  });

  it('builds its addresses without a double slash if its public URL ends with slashes', async () => {
    const service = await runService({ publicUrl: 'https://service.example/api//' });
    const { company } = await newConnection(service.administrator);
    const { body } = await service.client('GET', company);
    const integration = await service.client('GET', '/integrations/qhyg');
    const page = await service.client('GET', `/link/company/${body.id}`);
    const description = await service.client('GET', '/openapi.json');
    await service.close();
    for (const text of [JSON.stringify(body), integration.text, page.text]) {
      expect(text).toContain('https://service.example/api/');
      expect(text).not.toContain('api//');
    }
    expect(description.text).toContain('"servers":[{"url":"https://service.example/api"}]');
  });

  it('ends the trace of every request, even if its connection closes before the response', async () => {
    const outcomes: (number | string)[] = [];
    const continueTrace = () => (outcome: number | string) => outcomes.push(outcome);
    const service = await runService({ continueTrace, faults: true });
    const { connection } = await newConnection(service.administrator);
    const headers = { traceparent: 'traced' };
    await service.client('GET', connection, { headers });
    await service.client('GET', `${connection}0`, { headers });
    for (const kind of ['lostAnswer', 'droppedConnection']) {
      await service.administrator('PUT', '/sandbox/faults', { body: { faults: [{ kind, times: 1 }] } });
      await expect(service.client('GET', connection, { headers })).rejects.toThrow();
    }
    const slow = fetch(`${service.url}/sandbox/qhyg/token`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token', refresh_token: 'sbx-slow-2000-ok-1' }),
      signal: AbortSignal.timeout(1_000),
    });
    await expect(slow).rejects.toThrow();
    await until(() => outcomes.length >= 5, 3_000).catch(() => undefined);
    await service.close();
    expect(outcomes).toEqual([200, 404, 'dropped', 'dropped', 'dropped']);
  });

  it('fails to start if the database is unreachable', async () => {
    await expect(
      startService({ cipher: SERVICE_CIPHER, databaseUrl: 'postgres://127.0.0.1:1/none' }),
    ).rejects.toThrow();
  });
});

describe('closing the service', () => {
  const timeToClose = async (request: string) => {
    const service = await runService();
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('error', () => undefined);
    await until(async () => socket.bytesWritten === request.length);
    // Measure `close` itself, because a socket that is not read does not report its end.
    const startedAt = performance.now();
    await service.close();
    socket.destroy();
    return performance.now() - startedAt;
  };

  it.each([
    ['does not read its responses', 'GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: any\r\n\r\n'.repeat(20)],
    ['does not finish its request', 'GET /companies HTTP/1.1\r\nHost: any\r\n'],
  ])('waits only a few seconds for a client that %s', async (_what, request) => {
    expect(await timeToClose(request)).toBeLessThan(8_000);
  });

  it('finishes an authorization in progress even after its client has been cut off', async () => {
    const service = await runService();
    const { database, accountId } = service;
    const closing = await startService({ cipher: SERVICE_CIPHER, databaseUrl: database.url });
    const { key } = await createKey(database.url, { accountId, role: 'administrator' });
    const { connection } = await newConnection(service.administrator);
    // The platform is called twice, and its second response arrives after the client has been cut off.
    const body = quickBooksCredential('sbx-slow-3000-ok-1');
    const answer = callerWith(closing.url, key)('PUT', `${connection}/authorization`, { body }).catch(() => 'cut off');
    await until(async () => (await execute(database.url, AUTHORIZATIONS_IN_PROGRESS)).rowCount === 1);
    await closing.close();
    expect(await answer).toBe('cut off');
    expect((await service.client('GET', connection)).body.status).toBe('Linked');
    await service.close();
  });
});
