/** The activities record outages, and why the migration paused itself. */
import { recordSliceEnd } from '../../../activities/companies/stoppages';
import { applyDecision } from '../../../activities/migration/decision-effects';
import type { Decision } from '../../../domain/migration/decision';
import { beginOutage, changeLimits, readStoppages, setPaused } from '../../../store';
import { failing } from '../../company-data-client/misbehaving-service';
import { until } from '../../support/async';
import { activityEnvironment, useImportRig } from '../../support/migrations/company-import';
import { updateRow } from '../../support/migrations/ledger';

const OUTCOME = { applied: true, text: 'done', at: new Date().toISOString() };

const rig = useImportRig();
const stoppagesOf = (id: string) => readStoppages(rig.ledger.db, id);

/** Probes the service as the batch run of a migration does. */
const probe = (id: string) =>
  rig.runActivity(
    (activities) => activities.probeService(),
    activityEnvironment({ workflowExecution: { workflowId: `${id}.batch`, runId: 'r' } }),
  );

test('an outage of the service is recorded until a probe of the run gets an answer', async () => {
  const { id } = await rig.migration(['sbx-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  rig.proxy.on('POST', /^\/companies$/, failing(503, 'Maintenance'));
  rig.proxy.on('GET', /^\/account$/, failing(503, 'Maintenance'));
  await rig.importSlice(id);
  await probe(id);
  const outage = { kind: 'outage', source: 'service', why: expect.stringContaining('503 Maintenance') as string };
  expect(await stoppagesOf(id)).toMatchObject([{ ...outage, endedAt: null }]);
  rig.proxy.reset();
  await probe(id);
  expect(await stoppagesOf(id)).toMatchObject([{ ...outage, endedAt: expect.any(String) as string }]);
});

test('an outage of the platform is recorded until a company gets through', async () => {
  const { id } = await rig.migration(['sbx-unavailable-9-ok-1', 'sbx-unavailable-9-ok-1', 'sbx-ok-1']);
  await rig.ledger.db.updateTable('companies').set({ held_back: 'later' }).where('row', '=', 3).execute();
  await rig.importSlice(id);
  await probe(id);
  expect(await stoppagesOf(id)).toMatchObject([{ source: 'platform', endedAt: null }]);
  await rig.ledger.db.updateTable('companies').set({ held_back: null }).where('row', '=', 3).execute();
  expect(await rig.importSlice(id)).toMatchObject({ outage: null });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: expect.any(String) as string }]);
});

test('a slice ends an outage only if a company got through after the outage had begun', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  const { db } = rig.ledger;
  await beginOutage(db, id, { why: 'Maintenance', source: 'service' });
  const end = { stop: null, stopNumbers: null, outage: null };
  await recordSliceEnd(db, id, { ...end, lastThroughAt: Date.now() - 5_000 });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: null }]);
  await recordSliceEnd(db, id, { ...end, lastThroughAt: Date.now() });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: expect.any(String) as string }]);
});

test('an outage is recorded while a company is still in flight, and dates from the previous slice', async () => {
  const { id } = await rig.migration(['sbx-ok-1', 'sbx-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let isFirst = true;
  rig.proxy.on('POST', /^\/companies$/, async (response, request) => {
    if (isFirst) {
      isFirst = false;
      await isReleased;
    }
    failing(503, 'Maintenance')(response, request);
  });
  const since = Date.now() - 40_000;
  const series = { since, firstTries: 1, lastFirstTryAt: since };
  const work = { migrationId: id, run: 'run-1', slice: 1, ledgerMark: 0, series };
  await changeLimits(rig.ledger.db, id, { companiesPerSliceAtOnce: 4 });
  const slice = rig.runActivity((activities) => activities.importSlice(work));
  await until(async () => (await stoppagesOf(id)).length > 0);
  release();
  expect(await slice).toMatchObject({ outage: { source: 'service' }, series: null });
  const [{ beganAt = '' } = {}, ...others] = await stoppagesOf(id);
  expect(Math.abs(Date.parse(beganAt) - since)).toBeLessThan(10_000);
  expect(others).toEqual([]);
});

test('the reason for which a slice stops is recorded once the migration has paused itself', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  rig.proxy.on('POST', /^\/companies$/, failing(401, 'no'));
  expect(await rig.importSlice(id)).toMatchObject({ stop: 'key-refused' });
  expect(await stoppagesOf(id)).toEqual([]);
  await rig.runActivity((activities) => activities.pauseMigration({ migrationId: id }));
  expect(await stoppagesOf(id)).toMatchObject([{ kind: 'pause', stop: 'key-refused', endedAt: null }]);
});

test('too many failures are recorded as one pause', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-revoked', 'sbx-revoked']);
  await changeLimits(rig.ledger.db, id, { toleratedFailures: 1 });
  expect(await rig.importSlice(id)).toMatchObject({ stop: 'too-many-failures' });
  await rig.runActivity((activities) => activities.pauseMigration({ migrationId: id }));
  const why = expect.stringContaining('more than the limit of 1 company') as string;
  expect(await stoppagesOf(id)).toMatchObject([{ kind: 'pause', stop: 'too-many-failures', why }]);
});

test('a slice reports the pause of an attempt that died before it could report it', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-revoked', 'sbx-revoked']);
  await changeLimits(rig.ledger.db, id, { toleratedFailures: 1 });
  const { stop, stopNumbers } = await rig.importSlice(id, { atOnce: 1 });
  expect([stop, stopNumbers]).toEqual(['too-many-failures', expect.stringContaining('more than the limit of 1')]);
  const again = { claimed: 0, stop, stopNumbers };
  expect(await rig.importSlice(id)).toMatchObject(again);
  expect(await rig.runActivity((activities) => activities.verifySlice({ migrationId: id }))).toMatchObject({ stop });
  // A slice that only finishes companies does not report the pause, because its workflow already knows about it.
  const finishing = { migrationId: id, run: 'run-1', slice: 1, ledgerMark: 0, finishing: true };
  expect(await rig.runActivity((activities) => activities.importSlice(finishing))).toMatchObject({ stop: null });
  await setPaused(rig.ledger.db, id, false);
  await setPaused(rig.ledger.db, id, true);
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 0, stop: null });
});

test('a rejection ends an outage that delayed the first company', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  const { db } = rig.ledger;
  await beginOutage(db, id, { why: 'Maintenance', source: 'service' });
  const facts = { migrationId: id, route: 'managed', paused: false, pausedItself: false } as const;
  const decision = { kind: 'step', decisionId: 'r', verdict: 'reject', step: 'schedule', role: 'support', by: 'Sam' };
  await applyDecision(db, facts, { ...decision, digest: 'd' } as Decision, { ...OUTCOME, decisionId: 'r' });
  expect(await stoppagesOf(id)).toMatchObject([{ kind: 'outage', endedAt: expect.any(String) as string }]);
});

test('an outage that a pause by people has ended begins again if it lasts longer than the pause', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  const { db } = rig.ledger;
  rig.proxy.on('GET', /^\/account$/, failing(503, 'Maintenance'));
  await probe(id);
  await setPaused(db, id, true);
  expect(await stoppagesOf(id)).toMatchObject([{ source: 'service', endedAt: expect.any(String) as string }]);
  await setPaused(db, id, false);
  await probe(id);
  expect(await stoppagesOf(id)).toMatchObject([{ source: 'service', endedAt: null }]);
});

test('an outage that delays the check of the first company lasts until a check gets through', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  const { db } = rig.ledger;
  const advance = () =>
    rig.runActivity((activities) => activities.advanceFirstCompany({ migrationId: id, row: 1, ledgerMark: 0 }));
  await rig.runActivity((activities) => activities.chooseFirstCompany({ migrationId: id }));
  await advance();
  await updateRow(db, id, 1, { state: 'syncing', moved_at: null, next_check_at: new Date(Date.now() + 60_000) });
  await beginOutage(db, id, { why: 'Maintenance', source: 'service' });
  await advance();
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: null }]);
  await updateRow(db, id, 1, { next_check_at: new Date(Date.now() - 1_000) });
  await advance();
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: expect.any(String) as string }]);
});
