/** Several workers share a run, including one that joins later. */
import { countCompanies } from '../../../store';
import { until } from '../../support/async';
import { startHttpProxy, type HttpProxy } from '../../support/faults/http-proxy';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestrator();
/** One proxy per worker, to find out which worker has moved which company. */
let proxies: readonly [HttpProxy, HttpProxy];
beforeAll(async () => {
  proxies = await Promise.all([startHttpProxy(orchestrator.service.url), startHttpProxy(orchestrator.service.url)]);
});
afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

/** Starts a worker whose slices end after two seconds instead of a minute. */
const startWorker = ({ url }: HttpProxy) =>
  orchestrator.startWorker(
    { service: { url, apiKey: orchestrator.config.service.apiKey } },
    { sliceTimeLimitMs: 2_000 },
  );

test('a worker that joins during a run imports some of the companies, and no company is moved twice', async () => {
  await startWorker(proxies[0]);
  const tokens = Array.from({ length: 120 }, (_, index) => `sbx-slow-300-ok-1.joining${index}`);
  const migration = await startTestMigration(orchestrator, 'joining', tokens);
  const limits = { slicesAtOnce: 4, companiesPerSliceAtOnce: 1, rampCompanies: 0 };
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const moved = async () => (await countCompanies(orchestrator.ferry.db, migration.id)).moved;
  await until(async () => (await moved()) > 2);
  await startWorker(proxies[1]);
  await until(async () => (await moved()) === tokens.length, 180_000);

  const imports = proxies.map((proxy) => proxy.arrived('PUT', /\/authorization$/).map(({ body }) => body));
  const [, joined] = imports;
  // The share of the second worker depends on when slices of the first worker end, so the test expects only a tenth.
  expect(joined?.length).toBeGreaterThan(tokens.length / 10);
  expect(new Set(imports.flat()).size).toBe(tokens.length);
  expect(imports.flat()).toHaveLength(tokens.length);
}, 260_000);
