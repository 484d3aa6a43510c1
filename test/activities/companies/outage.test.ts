/** The circuit breaker in an outage: it ends an import or a verification early. */
import { changeLimits, countCompanies, readStoppages } from '../../../store';
import { failing } from '../../company-data-client/misbehaving-service';
import { useImportRig } from '../../support/migrations/company-import';
import { updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();
beforeEach(() => {
  // The backoff is random. If it were almost 0, the same slice would claim the company again.
  jest.spyOn(Math, 'random').mockReturnValue(0.9);
});
afterEach(() => jest.restoreAllMocks());

const repeated = (count: number, token: string) => Array.from({ length: count }, () => token);
const unavailable = failing(503, 'Maintenance');

test('a slice ends after as many consecutive deferrals as it has companies in flight', async () => {
  const { id } = await rig.migration(repeated(20, 'sbx-ok-1'));
  rig.proxy.on('POST', /^\/companies$/, unavailable);
  const { claimed, outage } = await rig.importSlice(id, { atOnce: 3 });
  const why = expect.stringContaining('answered 503 Maintenance') as string;
  expect(outage).toMatchObject({ why, source: 'service', gotThrough: 0 });
  expect(claimed).toBeLessThanOrEqual(6);
  expect((await countCompanies(rig.ledger.db, id)).waiting).toBe(20);
});

test('an outage of the platform ends a slice like an outage of the service', async () => {
  const { id } = await rig.migration(repeated(20, 'sbx-unavailable-9-ok-1'));
  const { claimed, outage } = await rig.importSlice(id, { atOnce: 3 });
  expect(outage).toMatchObject({ source: 'platform', gotThrough: 0 });
  expect(claimed).toBeLessThanOrEqual(6);
});

test('a slice that begins one company a second ends after the first deferral if the service is down', async () => {
  const { id } = await rig.migration(repeated(20, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 60 });
  rig.proxy.on('POST', /^\/companies$/, unavailable);
  rig.proxy.on('GET', /^\/account$/, unavailable);
  const { claimed, outage } = await rig.importSlice(id, { atOnce: 60 });
  expect(outage).toMatchObject({ source: 'service', gotThrough: 0 });
  expect(claimed).toBeLessThanOrEqual(4);
  expect(await readStoppages(rig.ledger.db, id)).toMatchObject([{ source: 'service' }]);
});

test('a slice continues after a deferral if the service responds', async () => {
  const { id } = await rig.migration(repeated(4, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 60 });
  rig.proxy.on(
    'POST',
    /^\/companies$/,
    repeated(6, '').map(() => unavailable),
  );
  expect(await rig.importSlice(id, { atOnce: 60 })).toMatchObject({ outage: null });
  expect(rig.proxy.arrived('GET', /^\/account$/)).toHaveLength(1);
});

test('a slice does not end because of failed companies or a single deferred company', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-ok-1', 'sbx-unavailable-9-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  expect(await rig.importSlice(id, { atOnce: 2 })).toMatchObject({ claimed: 5, outage: null });
});

test('a slice with few companies reports an outage if none of them gets through', async () => {
  const { id } = await rig.migration(repeated(2, 'sbx-unavailable-9-ok-1'));
  const { outage, nextClaimInMs } = await rig.importSlice(id, { atOnce: 8 });
  expect(outage).not.toBeNull();
  expect(nextClaimInMs).toBeGreaterThan(0);
});

test('a retried company that is deferred again does not count as an outage', async () => {
  const { id } = await rig.migration(['sbx-inaccessible']);
  expect((await rig.importSlice(id)).outage).toMatchObject({ source: 'platform' });
  await updateRow(rig.ledger.db, id, 1, { not_before: null });
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 1, outage: null, series: null });
});

test('a verification ends when no company can be read', async () => {
  const { id } = await rig.migration(repeated(3, 'sbx-ok-1'));
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 3, outage: null });
  rig.proxy.on('GET', /dataStatus/, unavailable);
  const check = () => rig.checkDue(id, 60_000);
  let report = await check();
  while (report.outage === null) report = await check();
  expect(report).toMatchObject({ finished: 0, syncing: 3, outage: { gotThrough: 0 } });
  rig.proxy.reset();
  expect(await rig.verify(id)).toMatchObject({ finished: 3, outage: null });
});

test('a single company whose checks always fail does not count as an outage while the service responds', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  await rig.importSlice(id);
  rig.proxy.on('GET', /dataStatus/, unavailable);
  const checkNow = async () => {
    await updateRow(rig.ledger.db, id, 1, { next_check_at: null });
    return rig.checkDue(id, 60_000);
  };
  expect(await checkNow()).toMatchObject({ syncing: 1, outage: null });
  expect(rig.proxy.arrived('GET', /dataStatus/).length).toBeGreaterThan(0);

  rig.proxy.on('GET', /^\/account$/, unavailable);
  expect(await checkNow()).toMatchObject({ syncing: 1, outage: { source: 'service', gotThrough: 0 } });
});

test.each([
  [503, { why: expect.stringContaining('answered 503') as string, source: 'service', afterMs: 0 }],
  [401, null],
])('probeService reports an outage only if a retry can help (%d)', async (status, outage) => {
  rig.proxy.on('GET', /^\/account$/, failing(status, 'an error'));
  expect(await rig.runActivity((activities) => activities.probeService())).toEqual(outage);
});
