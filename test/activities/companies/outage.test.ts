/** Outages: the circuit breaker ends a slice or the checks instead of trying every company in vain. */
import { countCompanies } from '../../../store';
import { failing } from '../../company-data-client/misbehaving-service';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => {
  rig.proxy.reset();
  // The backoff is a random share of its maximum. A retry after almost no time would be claimed by the same slice.
  jest.spyOn(Math, 'random').mockReturnValue(0.9);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => rig.close());

const some = (count: number, token: string) => Array.from({ length: count }, () => token);
const unavailable = failing(503, 'Maintenance');

test('a slice ends after as many consecutive deferrals as it handles at once', async () => {
  const { id } = await rig.migration(some(20, 'sbx-ok-1'));
  rig.proxy.on('POST', /^\/companies$/, unavailable);
  const { claimed, blocked } = await rig.importSlice(id, { atOnce: 3 });
  expect(blocked).toMatchObject({ why: expect.stringContaining('answered 503 Maintenance') as string, gotThrough: 0 });
  expect(claimed).toBeLessThanOrEqual(6);
  expect((await countCompanies(rig.ledger.db, id)).waiting).toBe(20);
});

test('an outage of the platform ends a slice like an outage of the service', async () => {
  const { id } = await rig.migration(some(20, 'sbx-unavailable-9-ok-1'));
  const { claimed, blocked } = await rig.importSlice(id, { atOnce: 3 });
  expect(blocked?.gotThrough).toBe(0);
  expect(claimed).toBeLessThanOrEqual(6);
});

test('companies that fail, and a single deferred one, do not end a slice', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-ok-1', 'sbx-unavailable-9-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  expect(await rig.importSlice(id, { atOnce: 2 })).toMatchObject({ claimed: 5, blocked: null });
});

test('fewer companies are enough when none of them gets through', async () => {
  const { id } = await rig.migration(some(2, 'sbx-unavailable-9-ok-1'));
  const { blocked, nextClaimInMs } = await rig.importSlice(id, { atOnce: 8 });
  expect(blocked).not.toBeNull();
  expect(nextClaimInMs).toBeGreaterThan(0);
});

test('checks end when no company can be read', async () => {
  const { id } = await rig.migration(some(3, 'sbx-ok-1'));
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 3, blocked: null });
  rig.proxy.on('GET', /dataStatus/, unavailable);
  const check = () => rig.checkDue(id, 60_000);
  let report = await check();
  while (report.blocked === null) report = await check();
  expect(report).toMatchObject({ settled: 0, syncing: 3, blocked: { gotThrough: 0 } });
  rig.proxy.reset();
  expect(await rig.verify(id)).toMatchObject({ settled: 3, blocked: null });
});

test.each([
  [503, { why: expect.stringContaining('answered 503') as string, afterMs: 0 }],
  [401, null],
])('askService reports an outage, but not an answer with an error: %d', async (status, trouble) => {
  rig.proxy.on('GET', /^\/account$/, failing(status, 'told'));
  expect(await rig.runActivity((activities) => activities.askService())).toEqual(trouble);
});
