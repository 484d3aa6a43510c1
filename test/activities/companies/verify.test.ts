/** The verification of syncing companies: no reauthorization, the right organization, every data set complete. */
import { failing } from '../../company-data-client/misbehaving-service';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';
import { until } from '../../support/conditions';
import { alterBody, sendAnswer, type Interceptor } from '../../support/http-proxy';
import { rowsWithCredential, msFromNow, updateRow, readRow } from '../../support/ledger';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

const CONNECTION = /\/connections\/[^/]+$/;
const STATUS = /\/dataStatus$/;
const INVOICES = /\/data\/invoices/;
const rowOf = (id: string, row = 1) => readRow(rig.ledger.db, id, row);

/** Creates a company whose syncs were started and whose check is due. */
async function syncing(token: string, expectedInvoices: number | null = 10): Promise<string> {
  const { id } = await rig.migration([token], { row: () => ({ expectedInvoices }) });
  await rig.importSlice(id);
  await updateRow(rig.ledger.db, id, 1, { next_check_at: msFromNow(0) });
  return id;
}

/** Checks a company after its syncs have ended, with one call intercepted. */
async function checkWith(method: string, path: RegExp, interference: Interceptor, syncingForMs = 0) {
  const id = await syncing('sbx-ok-10');
  const { company_id: companyId } = await rowOf(id);
  await until(async () => {
    const { value: status } = await rig.directClient.dataStatus(companyId ?? '');
    return Object.values(status).every(({ currentStatus }) => currentStatus === 'Complete');
  });
  rig.proxy.on(method, path, interference);
  await updateRow(rig.ledger.db, id, 1, { sync_started_at: msFromNow(-syncingForMs) });
  const report = await rig.checkDue(id, 60_000);
  return { id, report, row: await rowOf(id) };
}

describe('a company is moved', () => {
  test('when everything matches the manifest, and its credential is erased', async () => {
    const id = await syncing('sbx-ok-10');
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1]);
    expect(await rig.verify(id)).toMatchObject({
      settled: 1,
      stop: null,
      syncing: 0,
      nextInMs: null,
      claimable: false,
    });
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'migrated', moved_at: expect.any(Date) as Date, failure: null });
    const checks = row.evidence?.map(({ check }) => check);
    expect(checks).toEqual(
      expect.arrayContaining([
        'no reauthorization required',
        'right organization',
        'bills synced',
        'invoices complete',
      ]),
    );
    expect(row.evidence?.every(({ passed }) => passed)).toBe(true);
    expect(row.evidence?.at(-1)).toMatchObject({
      detail: '10 expected, 10 found',
      correlationId: expect.any(String) as string,
    });
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([]);
  });

  test('when there are more records than expected', async () => {
    const id = await syncing('sbx-ok-12');
    await rig.verify(id);
    expect(await rowOf(id)).toMatchObject({ state: 'migrated' });
    expect((await rowOf(id)).evidence?.at(-1)).toMatchObject({ passed: true, detail: '10 expected, 12 found' });
  });

  test('when the manifest does not say how many there are', async () => {
    const id = await syncing('sbx-ok-3', null);
    await rig.verify(id);
    expect((await rowOf(id)).evidence?.at(-1)).toMatchObject({ check: 'invoices complete', detail: '3 found' });
  });

  test('when the platform lacks a data set', async () => {
    const id = await syncing('sbx-without-invoices-ok-10');
    await rig.verify(id);
    const row = await rowOf(id);
    expect(row.state).toBe('migrated');
    expect(row.evidence?.map(({ check }) => check)).not.toContain('invoices complete');
  });

  test('when the service says that the platform lacks a data set only when it is read', async () => {
    const unsupported = failing(404, 'Datatype invoices not supported by platform(s) QuickBooks Online');
    const id = await syncing('sbx-ok-10');
    rig.proxy.on('GET', INVOICES, unsupported);
    await rig.verify(id);
    expect((await rowOf(id)).state).toBe('migrated');
  });
});

describe('a company is not moved', () => {
  test('when there are fewer records than expected', async () => {
    const id = await syncing('sbx-short-7-of-10');
    expect(await rig.verify(id)).toMatchObject({ settled: 1, stop: null });
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'incomplete', correlation_id: expect.any(String) as string });
    expect(row.failure_text).toContain('10 expected, 7 found');
    expect(row.evidence?.at(-1)).toMatchObject({ passed: false });
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1]);
  });

  test('when its grant ends during the sync: the end customer must reconnect, and the link is stored', async () => {
    const id = await syncing('sbx-expires-during-sync-10');
    // The grant ends in the middle of a check.
    rig.proxy.on('GET', STATUS, async (response, _request, pass) => {
      const { company_id: companyId, connection_id: connectionId } = await rowOf(id);
      await until(async () => {
        const { value } = await rig.directClient.getConnection(companyId ?? '', connectionId ?? '');
        return value.status === 'Deauthorized';
      });
      sendAnswer(response, await pass());
    });
    await rig.verify(id);
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
    expect(row.link_url).toMatch(/^http/);
  });

  test('when a data set could not be synced, and the evidence says which', async () => {
    const broken = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'FetchError' } }));
    const id = await syncing('sbx-ok-10');
    rig.proxy.on('GET', STATUS, broken);
    await rig.verify(id);
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'sync-failed' });
    expect(row.failure_text).toContain('bills could not be synced');
    expect(row.evidence?.filter(({ passed }) => !passed)).toMatchObject([{ check: 'bills synced' }]);
  });

  test('when it belongs to another organization: the batch stops too', async () => {
    const id = await syncing('sbx-ok-10');
    rig.proxy.on(
      'GET',
      CONNECTION,
      alterBody((body) => ({ ...body, connectionInfo: { organizationId: 'another' } })),
    );
    expect(await rig.verify(id)).toMatchObject({ stop: 'wrong-organization' });
    expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'wrong-organization' });
  });

  test('when its connection was deleted', async () => {
    const { row, report } = await checkWith('GET', CONNECTION, failing(404, 'no such connection'));
    expect(row).toMatchObject({ state: 'failed', failure: 'refused' });
    expect(report.stop).toBeNull();
  });

  test('when its sync does not end in time', async () => {
    const fetching = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'Fetching' } }));
    const { row } = await checkWith('GET', STATUS, fetching, 61_000);
    expect(row).toMatchObject({ state: 'failed', failure: 'sync-timed-out' });
    expect(row.failure_text).toMatch(/still syncing after .*: .*bills/);
  });

  test('when its records do not become readable in time', async () => {
    const id = await syncing('sbx-ok-10');
    rig.proxy.on('GET', INVOICES, failing(409, 'not ready'));
    await rig.verify(id, 1_000);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'sync-timed-out' });
  });
});

describe('a company is checked again', () => {
  const NOTHING_YET = alterBody(() => ({}));

  test.each<[string, string, RegExp, Interceptor]>([
    [
      'a data set is still being fetched',
      'GET',
      STATUS,
      alterBody((s) => ({ ...s, x: { dataType: 'x', currentStatus: 'Fetching' } })),
    ],
    ['a status is unknown', 'GET', STATUS, alterBody((s) => ({ ...s, x: { dataType: 'x', currentStatus: 'New' } }))],
    ['there is no data set yet', 'GET', STATUS, NOTHING_YET],
    ['500', 'GET', STATUS, failing(500, 'oops')],
    ['503 on its connection', 'GET', CONNECTION, failing(503, 'maintenance')],
    ['409 on its data', 'GET', STATUS, failing(409, 'not ready')],
  ])('%s', async (_, method, path, interference) => {
    const { row, report } = await checkWith(method, path, interference);
    expect(row).toMatchObject({ state: 'syncing', failure: null });
    expect(report).toMatchObject({ settled: 0, stop: null });
    expect(report.nextInMs).toBeGreaterThan(0);
  });

  test('when the service asks to wait, after that time', async () => {
    const { row, report } = await checkWith('GET', STATUS, failing(429, 'slowly', { 'retry-after': '3600' }));
    expect(row.state).toBe('syncing');
    expect(report.nextInMs).toBeGreaterThan(3_500_000);
  });

  test.each([
    ['401', failing(401, 'wrong key'), 'key-refused'],
    ['402', failing(402, 'Payment Required'), 'account-limit'],
    ['403', failing(403, 'outdated key'), 'key-refused'],
  ] as const)('after the key or the account is fixed (%s): the batch stops', async (_, interference, stop) => {
    const { row, report } = await checkWith('GET', CONNECTION, interference);
    expect(report.stop).toBe(stop);
    expect(row).toMatchObject({ state: 'syncing', failure: null });
  });

  test('less often the longer its sync takes', async () => {
    const fetching = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'Fetching' } }));
    const { report } = await checkWith('GET', STATUS, fetching, 40_000);
    expect(report.nextInMs).toBeGreaterThan(7_000);
    expect(report.nextInMs).toBeLessThan(13_000);
  });
});
