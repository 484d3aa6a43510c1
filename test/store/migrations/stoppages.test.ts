/** The ledger keeps when a migration paused itself, and when it waited out an outage. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import {
  beginOutage,
  closeMigration,
  endOutage,
  pauseForProblem,
  readStoppages,
  reportStop,
  requestFirstCompany,
  setPaused,
} from '../../../store';
import { createMovableMigration, manifestRows, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();
const createMigration = async () => (await createMovableMigration(ledger, manifestRows(1))).id;
const stoppagesOf = (id: string) => readStoppages(ledger.db, id);
const ended = expect.any(String) as string;

test('a reported stop becomes a pause once the migration has paused itself, and ends when it is resumed', async () => {
  const { db } = ledger;
  const id = await createMigration();
  await reportStop(db, id, { stop: 'key-refused', numbers: null });
  await reportStop(db, id, { stop: 'too-many-failures', numbers: '3 of 4' });
  expect(await stoppagesOf(id)).toEqual([]);
  await pauseForProblem(db, id);
  await pauseForProblem(db, id);
  const pause = { kind: 'pause', stop: 'too-many-failures', source: null, endedAt: null };
  const why = expect.stringContaining('3 of 4') as string;
  expect(await stoppagesOf(id)).toMatchObject([{ ...pause, why }]);
  // Another slice reports the same stop after the pause has begun, with other numbers.
  await reportStop(db, id, { stop: 'too-many-failures', numbers: '4 of 6' });
  await pauseForProblem(db, id);
  expect(await stoppagesOf(id)).toHaveLength(1);
  await setPaused(db, id, false);
  expect(await stoppagesOf(id)).toMatchObject([{ ...pause, endedAt: ended }]);
});

test('slices that find too many failures at the same time record one pause', async () => {
  const { db } = ledger;
  const id = await createMigration();
  const pauseAsSlice = async (failed: number): Promise<void> => {
    await pauseForProblem(db, id, { stop: 'too-many-failures', numbers: `${failed} of 20` });
  };
  await Promise.all([3, 4, 5, 6, 7, 8, 9, 10].map(pauseAsSlice));
  expect(await stoppagesOf(id)).toMatchObject([{ stop: 'too-many-failures', endedAt: null }]);
});

test('a slice that fails while it pauses the migration leaves neither a pause nor a reported stop', async () => {
  const { db } = ledger;
  const id = await createMigration();
  await sql`alter table stoppages add constraint no_pause check (began_at is null) not valid`.execute(db);
  await expect(pauseForProblem(db, id, { stop: 'too-many-failures', numbers: '3 of 4' })).rejects.toThrow('no_pause');
  await sql`alter table stoppages drop constraint no_pause`.execute(db);
  const left = await db.selectFrom('stoppages').select('stop').where('migration_id', '=', id).execute();
  expect(left).toEqual([]);
  const { paused } = await db.selectFrom('migrations').select('paused').where('id', '=', id).executeTakeFirstOrThrow();
  expect(paused).toBe(false);
});

test('a pause whose reason an earlier version did not report is recorded as well', async () => {
  const id = await createMigration();
  await pauseForProblem(ledger.db, id);
  await pauseForProblem(ledger.db, 'unknown.xero');
  expect(await stoppagesOf(id)).toMatchObject([{ kind: 'pause', stop: null, why: 'the reason was not recorded' }]);
});

test('an outage is recorded once until it is over, and continues if it begins again within a minute', async () => {
  const { db } = ledger;
  const id = await createMigration();
  await beginOutage(db, id, { why: 'first', source: 'service' });
  await beginOutage(db, id, { why: 'second', source: 'platform' });
  await setPaused(db, id, false);
  expect(await stoppagesOf(id)).toMatchObject([{ kind: 'outage', source: 'service', why: 'first', endedAt: null }]);
  await endOutage(db, id, { source: 'platform' });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: null }]);
  await endOutage(db, id, { source: 'service' });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: ended }]);
  await beginOutage(db, id, { why: 'third', source: 'service' });
  expect(await stoppagesOf(id)).toMatchObject([{ why: 'first', endedAt: null }]);
  await endOutage(db, id);
  await beginOutage(db, id, { why: 'fourth', source: 'platform' });
  expect(await stoppagesOf(id)).toMatchObject([
    { why: 'first', endedAt: ended },
    { why: 'fourth', source: 'platform' },
  ]);
});

test('no stoppage begins or continues after the migration has ended', async () => {
  const { db } = ledger;
  const id = await createMigration();
  await beginOutage(db, id, { why: 'first', source: 'service' });
  await closeMigration(db, id, 'cancelled');
  expect(await stoppagesOf(id)).toMatchObject([{ why: 'first', endedAt: ended }]);
  await beginOutage(db, id, { why: 'second', source: 'service' });
  await beginOutage(db, id, { why: 'third', source: 'platform' });
  await reportStop(db, id, { stop: 'key-refused', numbers: null });
  await pauseForProblem(db, id);
  expect(await stoppagesOf(id)).toMatchObject([{ why: 'first', endedAt: ended }]);
  expect(await stoppagesOf(id)).toHaveLength(1);
});

test.each<[string, (id: string) => Promise<void>]>([
  ['a person pauses the migration', (id) => setPaused(ledger.db, id, true)],
  ['the migration pauses itself', (id) => pauseForProblem(ledger.db, id)],
  ['a person chooses another first company', (id) => requestFirstCompany(ledger.db, id, 'c1')],
])('an outage is over once %s', async (_, decide) => {
  const id = await createMigration();
  await beginOutage(ledger.db, id, { why: 'first', source: 'service' });
  await decide(id);
  expect((await stoppagesOf(id))[0]).toMatchObject({ kind: 'outage', endedAt: ended });
});

test('no outage begins while a person pauses the migration', async () => {
  const { db } = ledger;
  const id = await createMigration();
  await beginOutage(db, id, { why: 'first', source: 'service' });
  await setPaused(db, id, true);
  await beginOutage(db, id, { why: 'second', source: 'service' });
  await beginOutage(db, id, { why: 'third', source: 'platform' });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: ended }]);
  await setPaused(db, id, false);
  await beginOutage(db, id, { why: 'fourth', source: 'platform' });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: ended }, { why: 'fourth', endedAt: null }]);
});

test('an outage stays open if it was reported again after the last company got through', async () => {
  const { db } = ledger;
  const id = await createMigration();
  const outage = { why: 'Maintenance', source: 'service' } as const;
  await beginOutage(db, id, outage);
  await delay(50);
  const lastThroughAt = Date.now();
  await delay(50);
  await beginOutage(db, id, outage);
  await endOutage(db, id, { reportedBeforeMs: Date.now() - lastThroughAt });
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: null }]);
});

test('an outage whose calls began to fail within a minute after the previous one continues that one', async () => {
  const { db } = ledger;
  const id = await createMigration();
  const outage = { why: 'Maintenance', source: 'service', sinceMs: 60_000 } as const;
  await beginOutage(db, id, outage);
  const end = (secondsAgo: number) =>
    db
      .updateTable('stoppages')
      .set({ began_at: new Date(Date.now() - 900_000), ended_at: new Date(Date.now() - secondsAgo * 1_000) })
      .where('migration_id', '=', id)
      .execute();
  await end(65);
  await beginOutage(db, id, outage);
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: null }]);
  await end(300);
  await beginOutage(db, id, outage);
  expect(await stoppagesOf(id)).toMatchObject([{ endedAt: ended }, { endedAt: null }]);
});
