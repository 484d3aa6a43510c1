/** Estimates use the best known throughput: an assumption, the platform's last run, or this migration's own. */
import { sql } from 'kysely';
import { changeLimits } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
afterAll(() => rig.close());

const rest = (migrationId: string, runFinished: boolean) =>
  rig.runActivity((activities) => activities.estimateRest({ migrationId, runFinished }));
const plan = (migrationId: string, startAt: string | null) =>
  rig.runActivity((activities) => activities.estimatePlan({ migrationId, startAt }));

const plannedOf = async (id: string) =>
  rig.ledger.db.selectFrom('migrations').select('planned').where('id', '=', id).executeTakeFirstOrThrow();

test('before anything is moved the estimate is an assumption; the one for a proposed start is stored', async () => {
  const { id } = await rig.migration(['sbx-ok-10', 'sbx-ok-10']);
  expect(await plan(id, null)).toMatchObject({
    basis: 'assumed',
    measuredOn: 0,
    volume: { companies: 2, records: 20 },
  });
  expect(await plannedOf(id)).toEqual({ planned: null });
  const startAt = '2036-03-03T22:00:00.000Z';
  const window = { days: ['mon', 'tue', 'wed'], from: '23:00', to: '01:00', timeZone: 'UTC' } as const;
  await changeLimits(rig.ledger.db, id, { windows: [window] });
  const made = await plan(id, startAt);
  expect(made.ends?.earliest.slice(0, 13)).toBe('2036-03-03T23');
  expect(await plannedOf(id)).toEqual({ planned: { startAt, estimate: made } });
});

test('the rest is estimated from the first moved company; later migrations use only finished runs', async () => {
  const { db } = rig.ledger;
  const { id } = await rig.migration(Array.from({ length: 7 }, () => 'sbx-ok-10'));
  await sql`update companies set not_before = now() + interval '1 day' where migration_id = ${id} and row > 1`.execute(
    db,
  );
  await rig.importSlice(id);
  await rig.verify(id);
  const afterOne = await rest(id, false);
  expect(afterOne).toMatchObject({ basis: 'migration', measuredOn: 1, volume: { companies: 6, records: 60 } });
  // The sandbox syncs within a second; the assumption is half a minute.
  expect(afterOne.highMs).toBeLessThan(30_000);

  const { id: next } = await rig.migration(['sbx-ok-10']);
  expect(await plan(next, null)).toMatchObject({ basis: 'assumed' });
  await sql`update companies set not_before = null where migration_id = ${id}`.execute(db);
  await rig.importSlice(id);
  await rig.verify(id);
  expect(await rest(id, false)).toMatchObject({ measuredOn: 7, volume: { companies: 0 }, highMs: 0 });
  expect(await plan(next, null)).toMatchObject({ basis: 'assumed' });
  await rest(id, true);
  expect(await plan(next, null)).toMatchObject({ basis: 'platform', measuredOn: 7 });
  expect(await rest(next, true)).toMatchObject({ basis: 'platform', measuredOn: 7 });
});
