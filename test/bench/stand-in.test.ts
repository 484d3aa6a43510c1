import path from 'node:path';
import { request } from 'undici';
import type * as movers from '../../bench/processes/mover';
import type * as standIns from '../../bench/processes/stand-in';

/** Loads a module from the build, because it starts a compiled program of the same folder as a process. */
const built = <Module>(name: string): Module =>
  // oxlint-disable-next-line typescript/no-require-imports
  require(path.join(__dirname, '../../dist/bench/processes', name)) as Module;
const { startStandIn } = built<typeof standIns>('stand-in.js');
const { startMover } = built<typeof movers>('mover.js');

const COMPANIES = { first: 1_000_000_000, count: 20 };

test('the script sends the stand-in each of the eight requests once for each company', async () => {
  const standIn = await startStandIn();
  const script = await startMover('script-process', { url: standIn.url, key: 'any', platformKey: 'qhyg' });
  await script.move({ companies: COMPANIES, concurrency: 5, firstCheckAfterMs: 0 }, () => undefined);
  const { routes, perCompany, authorizedTwice, connections } = await standIn.counts();
  await Promise.all([script.stop(), standIn.stop()]);
  expect(perCompany).toEqual({ 8: 20 });
  expect(routes).toEqual({
    'POST /companies': 20,
    'POST /companies/{id}/connections': 20,
    'PUT /companies/{id}/connections/{id}/authorization': 20,
    'POST /companies/{id}/data/all': 20,
    'GET /companies/{id}/dataStatus': 20,
    'GET /companies/{id}/connections/{id}': 20,
    'GET /companies/{id}/data/invoices': 20,
    'GET /companies/{id}/syncSettings': 20,
  });
  expect(authorizedTwice).toBe(0);
  expect(connections).toBe(5);
});

test('the stand-in delays its responses, and refuses requests above its limit until the minute ends', async () => {
  const standIn = await startStandIn({ requestsPerMinute: 2, latencyMs: 100 });
  const statuses: number[] = [];
  const startedAt = performance.now();
  for (let sent = 0; sent < 3; sent += 1) {
    const { statusCode, headers, body } = await request(`${standIn.url}/account`);
    await body.dump();
    statuses.push(statusCode);
    if (statusCode === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(50);
  }
  const { refused } = await standIn.counts();
  await standIn.stop();
  expect(statuses).toEqual([200, 200, 429]);
  expect(refused).toBe(1);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300);
});
