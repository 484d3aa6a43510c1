/** The activities for the first company: it is chosen, imported and verified, and its evidence is returned. */
import type { MockActivityEnvironment } from '@temporalio/testing';
import type { FirstCompanyProgress } from '../../../activities/companies/first-company';
import { failing } from '../../company-data-client/misbehaving-service';
import { changeLimits } from '../../../store';
import { activityEnvironment, useImportRig } from '../../support/migrations/company-import';
import { loseAnswer } from '../../support/faults/http-proxy';
import { chooseFirst, readRow, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const choose = (migrationId: string, wanted: string | null) =>
  chooseFirst(rig.ledger.db, migrationId, wanted, 'first-company');

const oneStep = (migrationId: string, row: number, environment?: MockActivityEnvironment) =>
  rig.runActivity((activities) => activities.advanceFirstCompany({ migrationId, row, ledgerMark: 0 }), environment);

/** Advances the company until it has a result or the run stops. Each advance runs a new activity. */
async function advance(migrationId: string, row: number): Promise<FirstCompanyProgress> {
  for (;;) {
    const step = await oneStep(migrationId, row);
    if (!('retryInMs' in step)) return step;
  }
}

test('only the requested company is moved, and its result is returned', async () => {
  const { id } = await rig.migration(['sbx-ok-10', 'sbx-ok-10', 'sbx-ok-10']);
  expect(await choose(id, 'c2')).toEqual({ row: 2, reference: 'c2' });
  expect(await advance(id, 2)).toMatchObject({
    result: { row: 2, reference: 'c2', stage: 'verified', failure: null },
  });
  const { db } = rig.ledger;
  const states = await Promise.all([1, 2, 3].map(async (row) => (await readRow(db, id, row)).state));
  expect(states).toEqual(['waiting', 'moved', 'waiting']);
});

test('a company that was left out before its move ended is shown as left out, with the reason', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  await choose(id, 'c1');
  await updateRow(rig.ledger.db, id, 1, { state: 'excluded', left_out_reason: 'sold' });
  const step = await oneStep(id, 1);
  const evidence = 'result' in step ? step.result.evidence : [];
  expect(evidence.at(-1)).toMatchObject({ code: 'moved', passed: false, detail: 'left out: sold' });
});

test('a slow pace does not delay the first company', async () => {
  const { id } = await rig.migration(['sbx-ok-10', 'sbx-ok-10']);
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 1 });
  await choose(id, 'c1');
  const startedAt = Date.now();
  expect(await advance(id, 1)).toMatchObject({ result: { stage: 'verified' } });
  expect(Date.now() - startedAt).toBeLessThan(30_000);
});

test('the evidence lists every check, and all checks except organization and name have a correlation id and a duration', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  await choose(id, 'c1');
  const step = await advance(id, 1);
  const evidence = 'result' in step ? step.result.evidence : [];
  const [refreshed, ...otherChecks] = evidence;
  expect(refreshed).toMatchObject({ code: 'refreshed', label: 'token accepted by the platform', passed: true });
  const put = rig.proxy.arrived('PUT', /\/authorization$/);
  expect(put).toHaveLength(1);
  expect(otherChecks.map(({ label }) => label)).toEqual([
    ...['connection authorized', 'right organization', 'name as expected'],
    ...['bills', 'chartOfAccounts', 'customers', 'invoices', 'items', 'payments', 'suppliers'].map(
      (set) => `${set} complete`,
    ),
  ]);
  expect(evidence.flatMap(({ records }) => (records ? [records] : []))).toEqual([
    { dataType: 'bills', expected: null, found: 5 },
    { dataType: 'chartOfAccounts', expected: null, found: 12 },
    { dataType: 'customers', expected: null, found: 3 },
    { dataType: 'invoices', expected: 10, found: 10 },
    { dataType: 'items', expected: null, found: 2 },
    { dataType: 'payments', expected: null, found: 5 },
    { dataType: 'suppliers', expected: null, found: 2 },
  ]);
  for (const { code, correlationId, durationMs } of evidence) {
    if (['organization', 'name'].includes(code)) continue;
    expect({ code, correlationId, durationMs }).toEqual({
      code,
      correlationId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      durationMs: expect.any(Number) as number,
    });
  }
});

test('in a batch, only invoices are counted', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  await rig.importSlice(id);
  await rig.verify(id);
  const row = await readRow(rig.ledger.db, id, 1);
  const evidence = row.evidence ?? [];
  expect(evidence.flatMap(({ records }) => (records ? [records.dataType] : []))).toEqual(['invoices']);
  expect(rig.proxy.arrived('GET', /\/data\/bills/)).toEqual([]);
  expect(evidence.map(({ label }) => label)).toContain('bills synced');
  expect(row).toMatchObject({ import_ms: expect.any(Number) as number, sync_ms: expect.any(Number) as number });
  expect(row.sync_schedule).toMatchObject({ everyHours: { least: 24, most: 24 } });
  const tomorrow = Date.now() + 24 * 3_600_000;
  expect(Math.abs(Date.parse(row.sync_schedule?.nextAt ?? '') - tomorrow)).toBeLessThan(60_000);
});

test('the evidence of the refresh has no correlation id if the response to the authorization was lost', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  await choose(id, 'c1');
  rig.proxy.on('PUT', /\/authorization$/, loseAnswer);
  await oneStep(id, 1);
  rig.proxy.reset();
  await rig.expireLeases(id);
  const step = await advance(id, 1);
  const [refreshed] = 'result' in step ? step.result.evidence : [];
  expect(refreshed).toMatchObject({ code: 'refreshed', label: 'token accepted by the platform', passed: true });
  expect(refreshed?.detail).toContain(
    'no answer that accepted the supplied token is stored, so the end customer might have linked the connection',
  );
  expect(refreshed).not.toHaveProperty('correlationId');
});

test.each([
  ['sbx-revoked', 'reauthorization-required'],
  ['sbx-short-3-of-10', 'incomplete'],
])('a first company that was not moved (%s) is returned with its failure (%s)', async (token, failure) => {
  const { id } = await rig.migration([token]);
  await choose(id, null);
  const step = await advance(id, 1);
  expect(step).toMatchObject({ result: { stage: 'failed', failure } });
  if ('result' in step)
    expect(step.result.evidence.at(-1)).toMatchObject({ code: 'moved', label: 'moved', passed: false });
});

test('a refused key stops the run and leaves the company waiting', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  await choose(id, null);
  rig.proxy.on('POST', /^\/companies$/, failing(401, 'wrong key'));
  expect(await advance(id, 1)).toEqual({ stop: 'key-refused' });
  expect((await readRow(rig.ledger.db, id, 1)).state).toBe('waiting');
  rig.proxy.reset();
  expect(await advance(id, 1)).toMatchObject({ result: { stage: 'verified' } });
});

test('an activity that Temporal has retried does not block later activities', async () => {
  const { id } = await rig.migration(['sbx-unavailable-1-ok-10']);
  await choose(id, null);
  const { db } = rig.ledger;
  const secondTry = activityEnvironment({ attempt: 2 });
  expect(await oneStep(id, 1, secondTry)).toHaveProperty('retryInMs');
  await db.updateTable('companies').set({ not_before: null }).where('migration_id', '=', id).execute();
  expect(await advance(id, 1)).toMatchObject({ result: { stage: 'verified' } });
});

test('the token of an incomplete first company is not sent again when the company is retried', async () => {
  const { id } = await rig.migration(['sbx-short-3-of-10']);
  await choose(id, null);
  await advance(id, 1);
  expect(await choose(id, 'c1')).toEqual({ row: 1, reference: 'c1' });
  expect(await advance(id, 1)).toMatchObject({ result: { stage: 'failed', failure: 'incomplete' } });
  expect(rig.proxy.arrived('PUT', /\/authorization$/)).toHaveLength(1);
});
