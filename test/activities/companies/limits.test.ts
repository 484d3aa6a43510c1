/** The limits of a migration, which a slice reads from the ledger for each group of companies that it claims. */
import { log } from '@temporalio/activity';
import { beginRun, changeLimits, countCompanies, readMigration } from '../../../store';
import { activityEnvironment, useImportRig } from '../../support/migrations/company-import';
import { until } from '../../support/async';
import { sendAnswer } from '../../support/faults/http-proxy';
import { updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const repeated = (count: number, token: string) => Array.from({ length: count }, () => token);

test('too many failures pause the batch, and only new failures count after a resume', async () => {
  const { id } = await rig.migration(repeated(8, 'sbx-revoked'));
  await changeLimits(rig.ledger.db, id, { toleratedFailures: 2 });
  expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 3, stop: 'too-many-failures' });
  expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 0 });
  const resume = {
    decision: { kind: 'resume', decisionId: 'r', role: 'support', by: 'Sam' },
    outcome: { decisionId: 'r', applied: true, text: 'resumed', at: new Date().toISOString() },
  } as const;
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [resume] }));
  expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 3, stop: 'too-many-failures' });
});

test('the tolerated share of failures applies once enough companies have been tried', async () => {
  const { id } = await rig.migration([...repeated(10, 'sbx-revoked'), ...repeated(20, 'sbx-ok-1')]);
  const { claimed, stop } = await rig.importSlice(id, { atOnce: 5 });
  expect(stop).toBe('too-many-failures');
  expect(claimed).toBeGreaterThanOrEqual(20);
  // Up to four other companies can be in flight with the twentieth.
  expect(claimed).toBeLessThanOrEqual(24);
});

test('a pause after too many failures states the numbers, and companies that are being imported count as tried', async () => {
  const { id } = await rig.migration([...repeated(6, 'sbx-revoked'), ...repeated(24, 'sbx-ok-1')]);
  await changeLimits(rig.ledger.db, id, { toleratedShare: 0.18 });
  let paused = false;
  rig.proxy.on('POST', /^\/companies$/, async (response, request, pass) => {
    // The 6 companies with a revoked token are created first, and the other 24 only after the pause.
    if (!/Company [1-6]"/.test(request.body)) await until(() => paused);
    sendAnswer(response, await pass());
  });
  const slice = rig.importSlice(id, { atOnce: 30 });
  await until(async () => (paused = (await readMigration(rig.ledger.db, id))?.paused === true));
  expect(await slice).toMatchObject({
    stop: 'too-many-failures',
    stopNumbers:
      'when the migration paused, 6 of 30 tried companies could not be moved, which is 20%, more than the limit of 18%',
  });
});

test('a limit that changes during a slice applies to its next group', async () => {
  const { id } = await rig.migration(repeated(6, 'sbx-ok-1'));
  const groups: number[] = [];
  rig.proxy.on('POST', /^\/companies$/, async (response, _request, pass) => {
    groups.push((await countCompanies(rig.ledger.db, id)).importing);
    await changeLimits(rig.ledger.db, id, { companiesPerSliceAtOnce: 1 });
    sendAnswer(response, await pass());
  });
  await rig.importSlice(id, { atOnce: 3 });
  // groups[2] is not checked, because it can be counted after the first two outcomes were written.
  expect(groups.slice(0, 2)).toEqual([3, 3]);
  expect(groups.slice(3)).toEqual([1, 1, 1]);
});

test('a slice ends after its current group when its number exceeds a lowered limit on slices', async () => {
  const { id } = await rig.migration(repeated(6, 'sbx-ok-1'));
  rig.proxy.on('POST', /^\/companies$/, async (response, _request, pass) => {
    await changeLimits(rig.ledger.db, id, { slicesAtOnce: 1 });
    sendAnswer(response, await pass());
  });
  await changeLimits(rig.ledger.db, id, { companiesPerSliceAtOnce: 2, slicesAtOnce: 3 });
  const slice = (number: number) =>
    rig.runActivity((activities) =>
      activities.importSlice({ migrationId: id, run: 'run-1', slice: number, ledgerMark: 0 }),
    );
  expect(await slice(3)).toMatchObject({ claimed: 2, slicesAtOnce: 1 });
  expect(await slice(1)).toMatchObject({ claimed: 4 });
});

test('a slice begins moves no faster than its share of the limit', async () => {
  const { id } = await rig.migration(repeated(4, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 240, slicesAtOnce: 2 });
  const startedAt = Date.now();
  await rig.importSlice(id, { atOnce: 1 });
  // The share of this slice is two companies per second. The slice does not wait after the last of its four companies.
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_500);
});

/** Returns a worker whose requests do not time out while the service holds them. */
const patientWorker = () => rig.worker({ service: rig.client(rig.proxy.url, { requestTimeoutMs: 300_000 }) });

/** Answers no company before this number has begun. Returns a function that counts those that have begun. */
function holdUntilBegun(companies: number): () => number {
  let begun = 0;
  rig.proxy.on('POST', /^\/companies$/, async (response, _request, pass) => {
    begun += 1;
    await until(() => begun >= companies);
    sendAnswer(response, await pass());
  });
  return () => begun;
}

test('a slice begins the next move on time while an earlier company is still being imported', async () => {
  const { id } = await rig.migration(repeated(3, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 60, slicesAtOnce: 1, companiesPerSliceAtOnce: 8 });
  // The first company is held until both others have begun.
  const begun = holdUntilBegun(3);
  const startedAt = Date.now();
  const slice = rig.importSlice(id, { atOnce: 8, worker: patientWorker() });
  await until(() => begun() === 2);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(950);
  await slice;
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_950);
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ syncing: 3 });
});

test('a slice with a limit fills all of its slots while its imports are slow', async () => {
  const { id } = await rig.migration(repeated(3, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 120, slicesAtOnce: 1, companiesPerSliceAtOnce: 3 });
  // Two companies in flight occupy more than half of the slots, so the pool takes the third only because the pace has
  // set `nextTakeAt`.
  holdUntilBegun(3);
  await rig.importSlice(id, { atOnce: 3, worker: patientWorker() });
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ syncing: 3 });
});

test('a limit of less than one company per minute per slice reduces the number of slices', async () => {
  const { id } = await rig.migration(repeated(4, 'sbx-ok-1'));
  await changeLimits(rig.ledger.db, id, { companiesPerMinute: 1, slicesAtOnce: 4, companiesPerSliceAtOnce: 4 });
  const slice = (number: number, environment = activityEnvironment()) =>
    rig.runActivity(
      (activities) => activities.importSlice({ migrationId: id, run: 'run-1', slice: number, ledgerMark: 0 }),
      environment,
    );
  expect(await slice(2)).toMatchObject({ claimed: 0, slicesAtOnce: 1 });
  const environment = activityEnvironment();
  const first = slice(1, environment);
  await until(async () => (await countCompanies(rig.ledger.db, id)).syncing === 1);
  // The slice waits for a minute instead of ending, because a slice that follows it would begin a move at once.
  environment.cancel();
  await first.catch(() => undefined);
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ syncing: 1, waiting: 3 });
});

test.each([
  [256, 4, 64],
  [260, 4, 65],
])(
  'a run that may import %i companies at once is logged if a worker cannot handle so many',
  async (atOnce, slices, each) => {
    const { id } = await rig.migration(['sbx-ok-1']);
    await changeLimits(rig.ledger.db, id, { slicesAtOnce: slices, companiesPerSliceAtOnce: each });
    const warn = jest.spyOn(log, 'warn').mockImplementation(() => undefined);
    try {
      await rig.runActivity((activities) => activities.beginRun({ migrationId: id, run: 'run-1' }));
      const messages = warn.mock.calls.map(([message]) => message);
      if (atOnce > 256) expect(messages).toEqual([expect.stringContaining(`allow ${atOnce} companies in parallel`)]);
      else expect(messages).toEqual([]);
    } finally {
      warn.mockRestore();
    }
  },
);

test('an interrupted ramp continues in later runs, and ends when all of its companies but the allowed stragglers are done', async () => {
  const { id } = await rig.migration(repeated(5, 'sbx-ok-1'));
  const { db } = rig.ledger;
  await changeLimits(db, id, { rampCompanies: 3 });
  const begin = (run: string) => rig.runActivity((activities) => activities.beginRun({ migrationId: id, run }));
  const importRun = (run: string) =>
    rig.runActivity((activities) => activities.importSlice({ migrationId: id, run, slice: 1, ledgerMark: 0 }));
  await begin('run-1');
  expect(await importRun('run-1')).toMatchObject({ claimed: 3, ramp: 3 });
  // A company of the ramp is waiting again, because its attempt died.
  await updateRow(db, id, 3, { state: 'waiting' });
  await begin('run-2');
  expect(await importRun('run-2')).toMatchObject({ claimed: 1, ramp: 3 });
  // All companies of the ramp are still syncing, so the ramp has not succeeded yet.
  await begin('run-3');
  expect(await importRun('run-3')).toMatchObject({ claimed: 0, ramp: 3 });
  expect(await rig.verify(id)).toMatchObject({ ramp: null });
  expect(await importRun('run-3')).toMatchObject({ claimed: 2, ramp: null });
});

test('companies that the platform defers, and lost answers, do not hold up a ramp', async () => {
  const { id } = await rig.migration(['sbx-inaccessible', 'sbx-unavailable', ...repeated(4, 'sbx-ok-1')]);
  const { db } = rig.ledger;
  await changeLimits(db, id, { rampCompanies: 4 });
  await rig.runActivity((activities) => activities.beginRun({ migrationId: id, run: 'run-1' }));
  rig.proxy.on('PUT', /\/authorization$/, async (response, request, pass) => {
    if (request.body.includes('-3')) response.destroy();
    else sendAnswer(response, await pass());
  });
  const { ramp } = await rig.importSlice(id);
  // Of the four companies in the ramp, one is syncing, one has lost its answer, and two are deferred.
  expect(await countCompanies(db, id)).toMatchObject({ syncing: 1, importing: 1, waiting: 4 });
  expect(ramp).toBeNull();
  expect(await rig.importSlice(id)).toMatchObject({ ramp: null });
  expect(await countCompanies(db, id)).toMatchObject({ syncing: 3, importing: 1 });
});

test('a ramp whose companies were all deferred takes the same number of further companies, and a ramp that is set to 0 ends', async () => {
  const { id } = await rig.migration(repeated(6, 'sbx-inaccessible'));
  const { db } = rig.ledger;
  await changeLimits(db, id, { rampCompanies: 2 });
  await rig.runActivity((activities) => activities.beginRun({ migrationId: id, run: 'run-1' }));
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, ramp: 2 });
  for (const row of [1, 2]) await updateRow(db, id, row, { not_before: null });
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, ramp: 4 });
  const adjust = {
    decision: { kind: 'adjust', decisionId: 'a', role: 'support', by: 'Sam', limits: { rampCompanies: 0 } },
    outcome: { decisionId: 'a', applied: true, text: 'changed', at: new Date().toISOString() },
  } as const;
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [adjust] }));
  // On a slow machine the deferral of the first two companies can already have ended.
  for (const row of [1, 2]) await updateRow(db, id, row, { not_before: new Date(Date.now() + 3_600_000) });
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 4, ramp: null });
});

test('a run moves only the ramp, and the next run moves the other companies', async () => {
  const { id } = await rig.migration(repeated(5, 'sbx-ok-1'));
  const { db } = rig.ledger;
  await beginRun(db, id, 'run-1', 2);
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, nextClaimInMs: null });
  await beginRun(db, id, 'run-1');
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 3 });
});
