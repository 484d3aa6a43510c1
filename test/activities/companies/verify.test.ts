/** The verification of syncing companies: connection authorized, right organization, complete data sets. */
import { setPaused } from '../../../store';
import { failing } from '../../company-data-client/misbehaving-service';
import { activityEnvironment, useImportRig } from '../../support/migrations/company-import';
import { until } from '../../support/async';
import { alterBody, sendAnswer, type Interceptor } from '../../support/faults/http-proxy';
import { rowsWithCredential, msFromNow, updateRow, readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const CONNECTION = /\/connections\/[^/]+$/;
const STATUS = /\/dataStatus$/;
const INVOICES = /\/data\/invoices/;
const rowOf = (id: string, row = 1) => readRow(rig.ledger.db, id, row);

/** Creates a company whose syncs have been started and whose check is due. */
async function createSyncing(token: string, expectedInvoices: number | null = 10): Promise<string> {
  const { id } = await rig.migration([token], { row: () => ({ expectedInvoices }) });
  await rig.importSlice(id);
  await updateRow(rig.ledger.db, id, 1, { next_check_at: msFromNow(0) });
  return id;
}

/** Checks a company whose syncs have ended, while one kind of call is intercepted. */
async function checkWith(method: string, path: RegExp, interference: Interceptor, syncingForMs = 0) {
  const id = await createSyncing('sbx-ok-10');
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

describe('verification moves a company', () => {
  test('whose data matches the manifest, and erases its credential', async () => {
    const id = await createSyncing('sbx-ok-10');
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1]);
    expect(await rig.verify(id)).toMatchObject({
      finished: 1,
      stop: null,
      syncing: 0,
      nextCheckInMs: null,
      claimable: false,
    });
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'moved', moved_at: expect.any(Date) as Date, failure: null });
    const checks = row.evidence?.map(({ label }) => label);
    expect(checks).toEqual(
      expect.arrayContaining(['connection authorized', 'right organization', 'bills synced', 'invoices complete']),
    );
    expect(row.evidence?.every(({ passed }) => passed)).toBe(true);
    expect(row.evidence?.at(-1)).toMatchObject({
      detail: '10 expected, 10 found',
      correlationId: expect.any(String) as string,
    });
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([]);
  });

  test('with more records than expected', async () => {
    const id = await createSyncing('sbx-ok-12');
    await rig.verify(id);
    expect(await rowOf(id)).toMatchObject({ state: 'moved' });
    expect((await rowOf(id)).evidence?.at(-1)).toMatchObject({ passed: true, detail: '10 expected, 12 found' });
  });

  test('without an expected number of records in the manifest', async () => {
    const id = await createSyncing('sbx-ok-3', null);
    await rig.verify(id);
    expect((await rowOf(id)).evidence?.at(-1)).toMatchObject({
      code: 'complete',
      label: 'invoices complete',
      detail: '3 found',
    });
  });

  test('if the service reports invalid dates, or a schedule beyond the largest possible date', async () => {
    const oddStatus = (each: object) => ({ ...each, lastSuccessfulSync: 'yesterday' });
    const { row } = await checkWith(
      'GET',
      /\/dataStatus$|\/syncSettings$/,
      alterBody((body) =>
        'settings' in body
          ? { ...body, settings: (body['settings'] as object[]).map((each) => ({ ...each, syncSchedule: 1e300 })) }
          : Object.fromEntries(Object.entries(body).map(([name, each]) => [name, oddStatus(each as object)])),
      ),
    );
    expect(row).toMatchObject({ state: 'moved', sync_schedule: { nextAt: null } });
  });

  test('whose platform lacks a data set', async () => {
    const id = await createSyncing('sbx-without-invoices-ok-10');
    await rig.verify(id);
    const row = await rowOf(id);
    expect(row.state).toBe('moved');
    expect(row.evidence?.map(({ label }) => label)).not.toContain('invoices complete');
  });

  test('whose platform lacks a data set, even if the service reports this only when the data set is read', async () => {
    const unsupported = failing(404, 'Datatype invoices not supported by platform(s) QuickBooks Online');
    const id = await createSyncing('sbx-ok-10');
    rig.proxy.on('GET', INVOICES, unsupported);
    await rig.verify(id);
    expect((await rowOf(id)).state).toBe('moved');
  });
});

describe('while companies are being imported', () => {
  /** Creates a company whose check becomes due in a moment, and another that can be imported only in an hour. */
  async function createTwo(): Promise<string> {
    const { id } = await rig.migration(['sbx-ok-10', 'sbx-ok-10'], { row: () => ({ expectedInvoices: 10 }) });
    await updateRow(rig.ledger.db, id, 2, { not_before: msFromNow(3_600_000) });
    await rig.importSlice(id);
    await updateRow(rig.ledger.db, id, 1, { next_check_at: msFromNow(700) });
    return id;
  }
  const verifySlice = (migrationId: string, whileImporting: boolean) =>
    rig.runActivity((activities) => activities.verifySlice({ migrationId, whileImporting }));

  test('a slice waits for checks that become due, and ends when the migration is paused', async () => {
    const id = await createTwo();
    const slice = verifySlice(id, true);
    await until(async () => (await rowOf(id)).state === 'moved');
    await setPaused(rig.ledger.db, id, true);
    expect(await slice).toMatchObject({ finished: 1, isTimeUp: false, paused: true, claimable: false });
  });

  test('a slice ends when no company is left to import', async () => {
    const id = await createTwo();
    await updateRow(rig.ledger.db, id, 2, { state: 'failed', failure: 'incomplete' });
    expect(await verifySlice(id, true)).toMatchObject({ finished: 0, isTimeUp: false, syncing: 1 });
  });

  test('a slice says that its time is up, so that the next slice begins without a delay', async () => {
    const id = await createTwo();
    await updateRow(rig.ledger.db, id, 1, { next_check_at: msFromNow(3_600_000) });
    const slice = rig.runActivity(
      (activities) => activities.verifySlice({ migrationId: id, whileImporting: true }),
      activityEnvironment(),
      rig.worker({ sliceTimeLimitMs: 1_000 }),
    );
    expect(await slice).toMatchObject({ finished: 0, isTimeUp: true, syncing: 1 });
  });

  test('a slice of a run that only finishes companies does not wait, so that a resume can end the run', async () => {
    const id = await createTwo();
    const slice = rig.runActivity((activities) =>
      activities.verifySlice({ migrationId: id, whileImporting: true, finishing: true }),
    );
    expect(await slice).toMatchObject({ finished: 0, isTimeUp: false, syncing: 1, paused: false });
  });

  test('a slice does not wait if nothing is being imported', async () => {
    const id = await createTwo();
    expect(await verifySlice(id, false)).toMatchObject({ finished: 0, isTimeUp: false, syncing: 1, claimable: true });
  });
});

describe('verification fails a company', () => {
  test('with fewer records than expected', async () => {
    const id = await createSyncing('sbx-short-7-of-10');
    expect(await rig.verify(id)).toMatchObject({ finished: 1, stop: null });
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'incomplete', correlation_id: expect.any(String) as string });
    expect(row.failure_text).toContain('10 expected, 7 found');
    expect(row.evidence?.at(-1)).toMatchObject({ passed: false });
    expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1]);
  });

  test('whose grant ends during the sync, and stores the link for reconnecting', async () => {
    const id = await createSyncing('sbx-expires-during-sync-10');
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

  test('with a data set that could not be synced, and names the data set in the evidence', async () => {
    const broken = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'FetchError' } }));
    const id = await createSyncing('sbx-ok-10');
    rig.proxy.on('GET', STATUS, broken);
    await rig.verify(id);
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'sync-failed' });
    expect(row.failure_text).toContain('a data set could not be synced (bills)');
    expect(row.evidence?.filter(({ passed }) => !passed)).toMatchObject([{ code: 'synced', label: 'bills synced' }]);
  });

  test('connected to the wrong organization, but one such company does not stop the batch', async () => {
    const id = await createSyncing('sbx-ok-10');
    rig.proxy.on(
      'GET',
      CONNECTION,
      alterBody((body) => ({ ...body, connectionInfo: { organizationId: 'another' } })),
    );
    expect(await rig.verify(id)).toMatchObject({ stop: null });
    expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'wrong-organization' });
  });

  test('whose connection was deleted', async () => {
    const { row, report } = await checkWith('GET', CONNECTION, failing(404, 'no such connection'));
    expect(row).toMatchObject({ state: 'failed', failure: 'refused' });
    expect(report.stop).toBeNull();
  });

  test('whose sync does not end in time', async () => {
    const fetching = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'Fetching' } }));
    const { row } = await checkWith('GET', STATUS, fetching, 61_000);
    expect(row).toMatchObject({ state: 'failed', failure: 'sync-timed-out' });
    expect(row.failure_text).toMatch(/not complete after 1 minute: .*bills/);
  });

  test('whose records do not become readable in time', async () => {
    const id = await createSyncing('sbx-ok-10');
    rig.proxy.on('GET', INVOICES, failing(409, 'not ready'));
    await rig.verify(id, 1_000);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'sync-timed-out' });
  });
});

describe('verification checks a company again', () => {
  const NOTHING_YET = alterBody(() => ({}));

  test.each<[string, string, RegExp, Interceptor]>([
    [
      'if a data set is still being fetched',
      'GET',
      STATUS,
      alterBody((s) => ({ ...s, x: { dataType: 'x', currentStatus: 'Fetching' } })),
    ],
    ['if a status is unknown', 'GET', STATUS, alterBody((s) => ({ ...s, x: { dataType: 'x', currentStatus: 'New' } }))],
    ['if no sync has started', 'GET', STATUS, NOTHING_YET],
    ['after a 500', 'GET', STATUS, failing(500, 'oops')],
    ['after a 503 for its connection', 'GET', CONNECTION, failing(503, 'maintenance')],
    ['after a 409 for its data status', 'GET', STATUS, failing(409, 'not ready')],
  ])('%s', async (_, method, path, interference) => {
    const { row, report } = await checkWith(method, path, interference);
    expect(row).toMatchObject({ state: 'syncing', failure: null });
    // The next check can already be due on a busy machine.
    expect(report).toMatchObject({ finished: 0, stop: null, nextCheckInMs: expect.any(Number) as number });
  });

  test('after the time that the service asks us to wait', async () => {
    const { row, report } = await checkWith('GET', STATUS, failing(429, 'slowly', { 'retry-after': '3600' }));
    expect(row.state).toBe('syncing');
    expect(report.nextCheckInMs).toBeGreaterThan(3_500_000);
  });

  test.each([
    ['401', failing(401, 'wrong key'), 'key-refused'],
    ['402', failing(402, 'Payment Required'), 'account-limit'],
    ['403', failing(403, 'outdated key'), 'key-refused'],
  ] as const)('after a %s that concerns the key or the account, and stops the batch', async (_, interference, stop) => {
    const { row, report } = await checkWith('GET', CONNECTION, interference);
    expect(report.stop).toBe(stop);
    expect(row).toMatchObject({ state: 'syncing', failure: null });
  });

  test('and starts its syncs again if a proxy answered the first request to start them', async () => {
    rig.proxy.on('POST', /\/data\/all$/, [(response) => sendAnswer(response, { status: 204, headers: {}, body: '' })]);
    const id = await createSyncing('sbx-ok-10');
    await rig.checkDue(id, 60_000);
    expect(rig.proxy.arrived('POST', /\/data\/all$/)).toHaveLength(1);
    await updateRow(rig.ledger.db, id, 1, { sync_started_at: msFromNow(-61_000), next_check_at: msFromNow(0) });
    await rig.verify(id, 600_000);
    expect(rig.proxy.arrived('POST', /\/data\/all$/)).toHaveLength(2);
    expect(await rowOf(id)).toMatchObject({ state: 'moved' });
  });

  test('about ten seconds later if its sync began 40 seconds ago', async () => {
    const fetching = alterBody((status) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'Fetching' } }));
    const { report } = await checkWith('GET', STATUS, fetching, 40_000);
    expect(report.nextCheckInMs).toBeGreaterThan(7_000);
    expect(report.nextCheckInMs).toBeLessThan(13_000);
  });
});
