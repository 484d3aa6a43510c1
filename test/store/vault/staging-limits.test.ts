/** How much people can stage for decisions that they have not made, and how long staged data is kept. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  deleteOldStaged,
  stageApplication,
  stageCredentials,
  StagingFull,
  stageManifest,
  type Database,
} from '../../../store';
import { createMovableMigration, manifestRows, OBTAINED_AT, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

const MB = 1024 * 1024;

async function openMigration(companies: number): Promise<string> {
  const { db, keys } = ledger;
  const { id } = await createMovableMigration({ db, keys }, manifestRows(companies));
  await sql`delete from credentials where migration_id = ${id}`.execute(db);
  return id;
}

/** Stages the same box for each company. */
const stage = (db: Database, id: string, companies: number, bytes: number, by: string, decisionId: string) =>
  stageCredentials(
    db,
    id,
    Array.from({ length: companies }, (_, each) => ({
      ...{ reference: `c${each + 1}`, obtainedAt: OBTAINED_AT, sealed: Buffer.alloc(bytes, 1) },
    })),
    by,
    { decisionId, replaces: false, isLimited: true },
  );

async function stagedFor(id: string): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select format('%s %s %s', decision_id, supplied_by, count(*)) as text from staged_credentials
    where migration_id = ${id} group by decision_id, supplied_by order by 1`.execute(ledger.db);
  return rows.map(({ text }) => text);
}

test('a person who stages too many credentials loses those staged for other decisions, and other people lose nothing', async () => {
  const { db } = ledger;
  const id = await openMigration(500);
  // With 500 companies, the limits are 18 MB for each person and 36 MB for all people.
  const box = 15_000;
  await stage(db, id, 500, box, 'Clara', 'c');
  await stage(db, id, 500, box, 'Cleo', 'a');
  await stage(db, id, 500, box, 'Cleo', 'b');
  expect(await stagedFor(id)).toEqual(['a Cleo 500', 'b Cleo 500', 'c Clara 500']);
  await stage(db, id, 500, box, 'Cleo', 'd');
  expect(await stagedFor(id)).toEqual(['c Clara 500', 'd Cleo 500']);
  // A request can be carried out twice, so staging the same credentials again must change nothing.
  await stage(db, id, 500, box, 'Cleo', 'd');
  expect(await stagedFor(id)).toEqual(['c Clara 500', 'd Cleo 500']);
});

test('nothing is stored if the people of a migration have staged too much together', async () => {
  const { db } = ledger;
  const [id, other] = [await openMigration(500), await openMigration(500)];
  for (const by of ['A', 'B', 'C', 'D', 'E']) await stage(db, id, 500, 15_000, by, by);
  await expect(stage(db, id, 500, 15_000, 'F', 'F')).rejects.toThrow(StagingFull);
  expect(await stagedFor(id)).toHaveLength(5);
  await stage(db, other, 500, 15_000, 'F', 'F');
});

test('one decision cannot stage more than its person may', async () => {
  const { db } = ledger;
  const id = await openMigration(500);
  await expect(stage(db, id, 500, 40_000, 'Cleo', 'a')).rejects.toThrow(StagingFull);
  expect(await stagedFor(id)).toEqual([]);
});

test('a manifest that is too large is not stored completely', async () => {
  const { db } = ledger;
  const id = await openMigration(1);
  const rows = manifestRows(1_000).map((row) => ({ ...row, name: 'x'.repeat(3_000) }));
  const decisionId = randomUUID();
  const stagePart = (part: number, by: string, decision: string) =>
    stageManifest(db, id, { decisionId: decision, part, rows }, by);
  for (let part = 0; part < 20; part += 1) await stagePart(part, 'Cleo', decisionId);
  // A part that is sent again is not counted twice.
  await stagePart(19, 'Cleo', decisionId);
  await expect(
    (async () => {
      for (let part = 20; part < 25; part += 1) await stagePart(part, 'Cleo', decisionId);
    })(),
  ).rejects.toThrow(StagingFull);
  const { rows: sizes } = await sql<{ bytes: number }>`
    select sum(bytes)::float8 as bytes from staged_manifests where migration_id = ${id}`.execute(db);
  expect(sizes[0]?.bytes).toBeLessThan(64 * MB);
});

test('staged data is deleted after a day if no decision has followed', async () => {
  const { db } = ledger;
  const id = await openMigration(2);
  const application = { clientId: 'x', environment: 'production', sealed: Buffer.from('box') } as const;
  for (const decisionId of ['old', 'new', 'decided']) {
    await stage(db, id, 2, 100, 'Cleo', decisionId);
    await stageApplication(db, id, decisionId, application);
  }
  await stageManifest(db, id, { decisionId: 'old', part: 0, rows: manifestRows(1) }, 'Cleo');
  await sql`
    insert into decisions (migration_id, decision_id, at, role, by_whom, content, applied, text, verified)
    values (${id}, 'decided', now(), 'client', 'Cleo', '{"kind": "application-supplied"}', true, '', true)`.execute(db);
  await sql`update staged_credentials set supplied_at = now() - interval '25 hours' where decision_id = 'old'`.execute(
    db,
  );
  await sql`update sealed_applications set supplied_at = now() - interval '25 hours' where decision_id <> 'new'`.execute(
    db,
  );
  await sql`update staged_manifests set staged_at = now() - interval '25 hours'`.execute(db);
  await deleteOldStaged(db);
  expect(await stagedFor(id)).toEqual(['decided Cleo 2', 'new Cleo 2']);
  const of = async (table: 'sealed_applications' | 'staged_manifests') =>
    (await db.selectFrom(table).select('decision_id').where('migration_id', '=', id).execute()).map(
      (row) => row.decision_id,
    );
  expect((await of('sealed_applications')).sort()).toEqual(['decided', 'new']);
  expect(await of('staged_manifests')).toEqual([]);
});
