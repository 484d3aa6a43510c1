/** Nothing gets through: a slice, or a look at many companies, ends with what came back instead of trying all in vain. */
import { countCompanies } from '../../../store';
import { failing } from '../../company-data-client/misbehaving-service';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

const some = (count: number, token: string) => Array.from({ length: count }, () => token);
const unavailable = failing(503, 'Maintenance');

test('a slice ends when as many in a row were put off as go side by side, and tries no further company', async () => {
  const { id } = await rig.migration(some(20, 'sbx-ok-1'));
  rig.proxy.on('POST', /^\/companies$/, unavailable);
  const { claimed, blocked } = await rig.importSlice(id, { atOnce: 3 });
  expect(blocked).toMatchObject({ why: expect.stringContaining('answered 503 Maintenance') as string, gotThrough: 0 });
  expect(claimed).toBeLessThanOrEqual(6);
  expect((await countCompanies(rig.ledger.db, id)).waiting).toBe(20);
});

test('a platform that is down keeps companies from being tried as the service does', async () => {
  const { id } = await rig.migration(some(20, 'sbx-unavailable-9-ok-1'));
  const { claimed, blocked } = await rig.importSlice(id, { atOnce: 3 });
  expect(blocked?.gotThrough).toBe(0);
  expect(claimed).toBeLessThanOrEqual(6);
});

test('companies that fail, and one that is put off among others, keep nobody from being tried', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-ok-1', 'sbx-unavailable-9-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  expect(await rig.importSlice(id, { atOnce: 2 })).toMatchObject({ claimed: 5, blocked: null });
});

test('fewer than go side by side are enough when none of them gets through; then nothing is left to be tried now', async () => {
  const { id } = await rig.migration(some(2, 'sbx-unavailable-9-ok-1'));
  const { blocked, nextClaimInMs } = await rig.importSlice(id, { atOnce: 8 });
  expect(blocked).not.toBeNull();
  expect(nextClaimInMs).toBeGreaterThan(0);
});

test('a look at many companies ends when nothing can be seen of any', async () => {
  const { id } = await rig.migration(some(3, 'sbx-ok-1'));
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 3, blocked: null });
  rig.proxy.on('GET', /dataStatus/, unavailable);
  const look = () => rig.checkDue(id, 60_000);
  let report = await look();
  while (report.blocked === null) report = await look();
  expect(report).toMatchObject({ settled: 0, syncing: 3, blocked: { gotThrough: 0 } });
  rig.proxy.reset();
  expect(await rig.verify(id)).toMatchObject({ settled: 3, blocked: null });
});

test.each([
  [503, { why: expect.stringContaining('answered 503') as string, afterMs: 0 }],
  [401, null],
])('whether the service answers is asked with a call that costs nothing: %d', async (status, trouble) => {
  rig.proxy.on('GET', /^\/account$/, failing(status, 'told'));
  expect(await rig.runActivity((activities) => activities.askService())).toEqual(trouble);
});
