/** Estimates use the throughput of this migration; without it, that of the platform; without both, an assumption. */
import { sql } from 'kysely';
import { changeLimits, closeMigration } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';

const rig = useImportRig();

const estimateRemaining = (migrationId: string, runFinished: boolean) =>
  rig.runActivity((activities) => activities.estimateRemaining({ migrationId, runFinished }));
const estimatePlan = (migrationId: string, startAt: string | null) =>
  rig.runActivity((activities) => activities.estimatePlan({ migrationId, startAt }));

const plannedOf = async (id: string) =>
  rig.ledger.db.selectFrom('migrations').select('planned').where('id', '=', id).executeTakeFirstOrThrow();

test('the first estimate is based on an assumption, and is stored if a start is proposed', async () => {
  const { id } = await rig.migration(['sbx-ok-10', 'sbx-ok-10']);
  expect(await estimatePlan(id, null)).toMatchObject({
    basis: 'assumed',
    measuredOn: 0,
    volume: { companies: 2, records: 20 },
  });
  expect(await plannedOf(id)).toEqual({ planned: null });
  const startAt = '2036-03-03T22:00:00.000Z';
  const window = { days: ['mon', 'tue', 'wed'], from: '23:00', to: '01:00', timeZone: 'UTC' } as const;
  await changeLimits(rig.ledger.db, id, { windows: [window] });
  const planned = await estimatePlan(id, startAt);
  expect(planned.ends?.earliest.slice(0, 13)).toBe('2036-03-03T23');
  const opensAt = '2036-03-03T23:00:00.000Z';
  expect(await plannedOf(id)).toEqual({ planned: { startAt, opensAt, estimate: planned } });
  const within = await estimatePlan(id, opensAt);
  expect(await plannedOf(id)).toEqual({ planned: { startAt: opensAt, estimate: within } });
});

test('no estimate is stored if the start is not a valid time, or after the migration has ended', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  for (const startAt of ['tomorrow', 7 as never]) {
    await estimatePlan(id, startAt);
    expect(await plannedOf(id)).toEqual({ planned: null });
  }
  expect(await closeMigration(rig.ledger.db, id, 'cancelled')).toBe(true);
  await estimatePlan(id, '2036-03-03T22:00:00.000Z');
  expect(await plannedOf(id)).toEqual({ planned: null });
});

test('the remaining work is estimated from moved companies, and later migrations are estimated from finished runs', async () => {
  const { db } = rig.ledger;
  const { id } = await rig.migration(Array.from({ length: 7 }, () => 'sbx-ok-10'));
  await sql`update companies set not_before = now() + interval '1 day' where migration_id = ${id} and row > 1`.execute(
    db,
  );
  await rig.importSlice(id);
  await rig.verify(id);
  const afterOne = await estimateRemaining(id, false);
  expect(afterOne).toMatchObject({ basis: 'migration', measuredOn: 1, volume: { companies: 6, records: 60 } });
  // The sandbox syncs within a second, whereas half a minute is assumed.
  expect(afterOne.highMs).toBeLessThan(30_000);

  const { id: next } = await rig.migration(['sbx-ok-10']);
  expect(await estimatePlan(next, null)).toMatchObject({ basis: 'assumed' });
  await sql`update companies set not_before = null where migration_id = ${id}`.execute(db);
  await rig.importSlice(id);
  await rig.verify(id);
  expect(await estimateRemaining(id, false)).toMatchObject({ measuredOn: 7, volume: { companies: 0 }, highMs: 0 });
  expect(await estimatePlan(next, null)).toMatchObject({ basis: 'assumed' });
  await estimateRemaining(id, true);
  expect(await estimatePlan(next, null)).toMatchObject({ basis: 'platform', measuredOn: 7 });
  expect(await estimateRemaining(next, true)).toMatchObject({ basis: 'platform', measuredOn: 7 });
});

test('once as many companies have moved as can be imported at once, the others are expected to move at the same rate', async () => {
  const { db } = rig.ledger;
  const { id } = await rig.migration(Array.from({ length: 7 }, () => 'sbx-ok-10'));
  await sql`update companies set not_before = now() + interval '1 day' where migration_id = ${id} and row > 5`.execute(
    db,
  );
  await rig.importSlice(id);
  await rig.verify(id);
  await changeLimits(db, id, { slicesAtOnce: 1, companiesPerSliceAtOnce: 5 });
  // Five companies in five minutes. Without that, the speed of a single company would give a few seconds.
  await sql`
    update companies
    set claimed_at = moved_at - interval '5 minutes', sync_started_at = moved_at - interval '5 minutes'
    where migration_id = ${id} and state = 'moved'`.execute(db);
  const { volume, lowMs, highMs } = await estimateRemaining(id, true);
  expect(volume).toMatchObject({ companies: 2 });
  expect(lowMs).toBeGreaterThan(80_000);
  expect(highMs).toBeGreaterThan(180_000);
  expect(highMs).toBeLessThan(240_000);
});
