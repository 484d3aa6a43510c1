/** Tests calls to the portal with temporary errors, answers of a proxy, and lost connections. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createPortalApi, type ApiError } from '../../../portal/client/api';

let server: Server;

/** Starts a server that ends with the test. Returns its origin. */
async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  return `http://${await listen()}`;
}

async function listen(): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The number of the request that fails. */
const FAILING = 2;

test('one temporary error does not end the reading of many companies', async () => {
  let requests = 0;
  const origin = await serve(({ url = '' }, response) => {
    requests += 1;
    if (requests === FAILING) return response.writeHead(503).end();
    const after = Number(new URL(url, 'http://localhost').searchParams.get('after'));
    return response.end(JSON.stringify({ companies: [{ row: after + 1 }], hasMore: after < 2 }));
  });
  const { eachCompany } = createPortalApi({ origin, headers: {}, unreachable: () => 'unreachable' });
  const read = async (onWait?: (text: string) => void): Promise<readonly number[]> => {
    requests = 0;
    const rows: number[] = [];
    for await (const { row } of eachCompany({}, onWait)) rows.push(row);
    return rows;
  };
  const said: string[] = [];
  expect(await read((text) => said.push(text))).toEqual([1, 2, 3]);
  expect(said).toEqual(['The portal is not working at the moment. Trying again…']);
  // Without `onWait`, no person would learn the reason for a wait, so the request is not repeated.
  await expect(read()).rejects.toMatchObject({ status: 503 });
});

test('each attempt to send a request is reported, because the portal can have received any of them', async () => {
  const answer = { outcome: 'applied', text: 'paused' };
  const statuses = [502, 200];
  const origin = await serve((_, response) => {
    response.writeHead(statuses.shift() ?? 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: '1', answer }));
  });
  const attempts: (number | null)[] = [];
  const onAttempt = (error: ApiError | null) => attempts.push(error && error.status);
  const { submit } = createPortalApi({ origin, headers: {}, unreachable: () => 'unreachable', onAttempt });
  expect(await submit('/api/decisions', {}, () => undefined)).toMatchObject(answer);
  expect(attempts).toEqual([502, null]);
  statuses.push(200);
  await submit('/api/reports', {}, () => undefined);
  expect(attempts).toEqual([502, null]); // because a report changes nothing
});

test('a successful answer without JSON comes from a proxy, so the request is repeated', async () => {
  const answer = { outcome: 'applied', text: 'paused' };
  const bodies = [
    '<html>Sign in</html>',
    JSON.stringify({ id: '1', answer: null }),
    '',
    JSON.stringify({ id: '1', answer }),
  ];
  const origin = await serve((_, response) => response.end(bodies.shift()));
  const attempts: (number | null)[] = [];
  const onAttempt = (error: ApiError | null) => attempts.push(error && error.status);
  const { submit, eachCompany } = createPortalApi({ origin, headers: {}, unreachable: () => 'no', onAttempt });
  const said: string[] = [];
  expect(await submit('/api/decisions', {}, (text) => said.push(text))).toMatchObject(answer);
  expect(attempts).toEqual([502, null]);
  const foreign = 'The answer is not from the portal, but probably from a proxy. Check your connection.';
  expect(said.filter((text) => text.startsWith(foreign))).toHaveLength(2);
  bodies.push('<html></html>');
  await expect(eachCompany({}).next()).rejects.toMatchObject({ message: foreign });
});

test('a refusal without an error of the portal comes from a proxy', async () => {
  const bodies = ['<html>Forbidden</html>', JSON.stringify({ error: 'Your invitation is read-only.' })];
  const origin = await serve((_, response) => response.writeHead(403).end(bodies.shift()));
  const { readSession } = createPortalApi({ origin, headers: {}, unreachable: () => 'no' });
  const proxy = 'The request was refused, probably by a proxy. Check your connection.';
  await expect(readSession()).rejects.toMatchObject({ status: 403, message: proxy });
  await expect(readSession()).rejects.toMatchObject({ status: 403, message: 'Your invitation is read-only.' });
});

test('a page of a proxy is never taken for a session, for the end of one or for a report', async () => {
  const origin = await serve((_, response) => response.setHeader('content-type', 'text/html').end('<html></html>'));
  const api = createPortalApi({ origin, headers: {}, unreachable: () => 'no' });
  for (const call of [
    api.readSession,
    api.readMigration,
    api.endSession,
    () => api.redeem('invitation', 'key', 'cookie'),
    () => api.readReport('1', 'html'),
  ])
    await expect(call()).rejects.toMatchObject({ status: 502, message: expect.stringContaining('proxy') as string });
});

test('an answer that breaks off is a lost connection, not an answer of a proxy', async () => {
  const origin = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"person"');
    setTimeout(() => response.destroy(), 50);
  });
  const api = createPortalApi({ origin, headers: {}, unreachable: () => 'no answer' });
  await expect(api.readSession()).rejects.toMatchObject({ status: 0, message: 'no answer' });
});

test('a refused certificate is not tried again, because only a person can replace it', async () => {
  const pem = (name: string): Buffer => readFileSync(path.join(__dirname, '..', 'certificates', name));
  server = createTlsServer({ cert: pem('certificate-1.pem'), key: pem('key-1.pem') });
  const origin = `https://${await listen()}`;
  // Within this time, a temporary error is tried again once.
  const api = createPortalApi({ origin, headers: {}, unreachable: () => 'not trusted', retryWithinMs: 100 });
  const said: string[] = [];
  const sent = api.submit('/api/decisions', {}, (text) => said.push(text));
  await expect(sent).rejects.toMatchObject({ status: 0, message: 'not trusted', isTemporary: false });
  expect(said).toEqual([]);
});
