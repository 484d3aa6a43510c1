/** Several workers share a run; one that joins in its middle takes its part. */
import { countCompanies } from '../../../store';
import { until } from '../../support/conditions';
import { startHttpProxy, type HttpProxy } from '../../support/http-proxy';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import { started, SUPPORT } from '../running-migration';

let orchestrator: Orchestrator;
/** Each worker asks through a way of its own: so it is seen who has moved whom. */
let ways: readonly [HttpProxy, HttpProxy];
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  ways = await Promise.all([startHttpProxy(orchestrator.service.url), startHttpProxy(orchestrator.service.url)]);
});
afterAll(async () => {
  await orchestrator.close();
  await Promise.all(ways.map((way) => way.close()));
});

/** A minute of its slices, in two seconds. */
const begin = ({ url }: HttpProxy) =>
  orchestrator.startWorker(
    { service: { url, apiKey: orchestrator.config.service.apiKey } },
    { sliceTimeLimitMs: 2_000 },
  );

test('a worker that is started in the middle of a run imports companies of it, and no company is moved twice', async () => {
  await begin(ways[0]);
  const tokens = Array.from({ length: 120 }, (_, index) => `sbx-slow-300-ok-1.joining${index}`);
  const migration = await started(orchestrator, 'joining', tokens);
  const limits = { slicesAtOnce: 4, companiesPerSliceAtOnce: 1, rampCompanies: 0 };
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'proven');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const moved = async () => (await countCompanies(orchestrator.ferry.db, migration.id)).migrated;
  await until(async () => (await moved()) > 2, 30_000);
  await begin(ways[1]);
  await until(async () => (await moved()) === tokens.length, 180_000);

  const imports = ways.map((way) => way.arrived('PUT', /\/authorization$/).map(({ body }) => body));
  const [, joined] = imports;
  // Half of it would be its part; how much it gets depends on whose slices end when.
  expect(joined?.length).toBeGreaterThan(tokens.length / 10);
  expect(new Set(imports.flat()).size).toBe(tokens.length);
  expect(imports.flat()).toHaveLength(tokens.length);
}, 260_000);
