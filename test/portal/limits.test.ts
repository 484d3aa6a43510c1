/** Limits on connections and slow requests, set so low that a test can reach them. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerPortalRequest } from '../../store';
import { until } from '../support/async';
import { openPortal, signIn, type RunningPortal, type Session } from './running-portal';
import type { PortalLimits } from '../../portal/server/limits';

async function withLimits(
  limits: Partial<PortalLimits>,
  work: (portal: RunningPortal, session: Session) => Promise<void>,
): Promise<void> {
  const portal = await openPortal({ limits });
  try {
    await work(portal, await signIn(portal));
  } finally {
    await portal.close();
  }
}

interface TestConnection {
  readonly socket: Socket;
  text(): string;
  isClosed(): boolean;
}

/** Opens a connection that this side does not close until the other side has closed it completely. */
async function open({ url }: Pick<RunningPortal, 'url'>): Promise<TestConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  let isClosed = false;
  socket.on('data', (bytes) => (text += bytes.toString()));
  socket.on('error', () => (isClosed = true));
  socket.on('close', () => (isClosed = true));
  await once(socket, 'connect');
  return { socket, text: () => text, isClosed: () => isClosed };
}

/** Writes to a connection until it has been closed completely. */
async function untilClosed(connection: TestConnection): Promise<void> {
  await until(() => {
    if (!connection.isClosed()) connection.socket.write('x');
    return connection.isClosed();
  });
}

const post = (path: string, { token }: Session, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nx-tokenferry-portal: 1\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe('connections', () => {
  test('of one address are limited, and a closed connection makes room for another', () =>
    withLimits({ connectionsPerAddress: 3 }, async (portal) => {
      await delay(100);
      const connections: TestConnection[] = [];
      // The connection on which the session was created is still open, too.
      while (connections.length < 5) connections.push(await open(portal));
      await until(() => connections.filter((each) => each.isClosed() || each.socket.readableEnded).length >= 2);
      const kept = connections.filter((each) => !each.isClosed() && !each.socket.readableEnded);
      expect(kept.length).toBeLessThanOrEqual(3);
      for (const { socket } of connections) socket.destroy();
      await until(async () => {
        const connection = await open(portal);
        connection.socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        await until(() => connection.text() !== '' || connection.isClosed() || connection.socket.readableEnded);
        connection.socket.destroy();
        return connection.text().startsWith('HTTP/1.1 200');
      });
    }));

  test('of the process are limited', () =>
    withLimits({ connections: 4 }, async (portal) => {
      const connections: TestConnection[] = [];
      while (connections.length < 8) connections.push(await open(portal));
      await until(() => connections.filter((each) => each.isClosed() || each.socket.readableEnded).length >= 4);
      for (const { socket } of connections) socket.destroy();
    }));

  test('without a request are closed, and so is a connection with too many requests', () =>
    withLimits({ keepAliveMs: 500, requestsPerConnection: 3 }, async (portal) => {
      const request = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
      const idle = await open(portal);
      idle.socket.write(request);
      await until(() => idle.text().includes('200 OK'));
      expect(idle.text()).toMatch(/^connection: keep-alive/im);
      await until(() => idle.socket.readableEnded, 5_000);
      const busy = await open(portal);
      for (let sent = 1; sent <= 3; sent += 1) {
        busy.socket.write(request);
        await until(() => busy.text().split('200 OK').length > sent);
      }
      expect(busy.text()).toMatch(/^connection: close/im);
      for (const { socket } of [idle, busy]) socket.destroy();
    }));
});

describe('a request', () => {
  test('whose headers are slow is ended, even if its client keeps its side of the connection open', () =>
    withLimits({ headersMs: 1_000 }, async (portal) => {
      const connection = await open(portal);
      connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      await until(() => connection.socket.readableEnded);
      expect(connection.text()).toMatch(/^HTTP\/1.1 408 /);
      await untilClosed(connection);
    }));

  test.each([
    ['nothing', 0],
    ['only one byte at a time', 1],
  ])('with a session is ended if %s of its body arrives', (_, bytes) =>
    withLimits({ bodyCheckMs: 1_000 }, async (portal, session) => {
      const connection = await open(portal);
      connection.socket.write(post('/api/credentials', session, 1_000_000) + '{');
      const trickle = setInterval(() => connection.socket.write('x'.repeat(bytes)), 100);
      await until(() => connection.socket.readableEnded || connection.isClosed(), 5_000);
      clearInterval(trickle);
      expect(connection.text()).toMatch(/^HTTP\/1.1 408 /);
      await untilClosed(connection);
    }),
  );

  test('whose body arrives at a sufficient rate is still ended at its time limit', () =>
    withLimits({ headersMs: 1_000, requestMs: 3_000, bodyCheckMs: 500 }, async (portal, session) => {
      const connection = await open(portal);
      connection.socket.write(post('/api/credentials', session, 10_000_000));
      const steady = setInterval(() => connection.socket.write('x'.repeat(4_096)), 50);
      const startedAt = Date.now();
      await until(() => connection.socket.readableEnded || connection.isClosed(), 10_000);
      clearInterval(steady);
      expect(connection.text()).toMatch(/^HTTP\/1.1 408 /);
      expect(Date.now() - startedAt).toBeGreaterThan(2_500);
      connection.socket.destroy();
    }));

  test('whose body arrives slowly, but fast enough, is carried out', () =>
    withLimits({ bodyCheckMs: 400 }, async (portal, session) => {
      const body = JSON.stringify({ filler: 'x'.repeat(200_000) });
      const connection = await open(portal);
      connection.socket.write(post('/api/decisions', session, body.length));
      for (let sent = 0; sent < body.length; sent += 10_000) {
        connection.socket.write(body.slice(sent, sent + 10_000));
        await delay(50);
      }
      await until(() => connection.text() !== '');
      expect(connection.text()).toMatch(/^HTTP\/1.1 400 /); // the body was read, and is invalid
      connection.socket.destroy();
    }));

  test('of a session that has too many in progress is refused', () =>
    withLimits({ requestsAtOnce: 3 }, async (portal, session) => {
      const slow: TestConnection[] = [];
      while (slow.length < 3) {
        const connection = await open(portal);
        connection.socket.write(post('/api/decisions', session, 1_000) + '{');
        slow.push(connection);
      }
      await until(async () => (await session.fetch('/api/session')).status === 429);
      const other = await signIn(portal, { migrationId: session.migrationId });
      expect((await other.fetch('/api/session')).status).toBe(200);
      slow[0]?.socket.destroy();
      await until(async () => (await session.fetch('/api/session')).status === 200);
      for (const { socket } of slow) socket.destroy();
    }));

  test('with a large body does not take the places of other migrations', () =>
    withLimits({ largeBodies: 3, largeBodiesPerMigration: 2 }, async (portal, session) => {
      const colleague = await signIn(portal, { migrationId: session.migrationId });
      const slow: TestConnection[] = [];
      for (const each of [session, colleague]) {
        const connection = await open(portal);
        connection.socket.write(post('/api/credentials', each, 1_000_000) + '{');
        slow.push(connection);
      }
      const body = JSON.stringify({ decisionId: randomUUID() });
      const statusOf = async (each: Session): Promise<number> => {
        const headers = { 'content-type': 'application/json' };
        return (await each.fetch('/api/credentials', { method: 'POST', headers, body })).status;
      };
      await until(async () => (await statusOf(colleague)) === 503);
      expect(await statusOf(await signIn(portal))).toBe(400); // the body was read, and is invalid
      for (const { socket } of slow) socket.destroy();
      await until(async () => (await statusOf(colleague)) === 400);
    }));

  test('for a large report does not fill the memory if people read it slowly', () =>
    withLimits({ largeAnswers: 3, largeAnswersPerMigration: 2 }, async (portal, session) => {
      const { db } = portal;
      const posted = await session.fetch('/api/reports', {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"format":"html"}' },
      });
      const { id } = (await posted.json()) as { readonly id: string };
      const done = { outcome: 'done', text: 'ready', content: 'x'.repeat(19_000_000) };
      expect(await answerPortalRequest(db, id, done)).toBe(true);
      const slow: TestConnection[] = [];
      while (slow.length < 2) {
        const connection = await open(portal);
        connection.socket.pause();
        connection.socket.write(
          `GET /api/reports/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session.token}\r\n\r\n`,
        );
        slow.push(connection);
      }
      const read = async (): Promise<number> => (await session.fetch(`/api/reports/${id}`)).status;
      await until(async () => (await read()) === 503);
      expect((await session.fetch('/api/session')).status).toBe(200);
      expect((await (await signIn(portal)).fetch('/api/reconnect-links.csv')).status).toBe(200);
      for (const { socket } of slow) socket.destroy();
      await until(async () => (await read()) === 200);
    }));
});
