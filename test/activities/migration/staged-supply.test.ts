/** A decision that names the boxes it supplies is applied only if exactly these boxes have arrived. */
import { sql } from 'kysely';
import type { Decision } from '../../../domain/migration/decision';
import { applicationDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import {
  readDecisions,
  readStagedDigest,
  readUnregisteredApplication,
  stageApplication,
  stageCredentials,
  type Database,
} from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { credentialOf, readRow, rowsWithCredential, untilBlocked, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();
const sent = { role: 'client', by: 'Cleo' } as const;

async function record(id: string, decision: Decision) {
  const outcome = { decisionId: decision.decisionId, applied: true, text: 'done', at: new Date().toISOString() };
  const recorded = [{ decision, outcome }];
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  return (await readDecisions(rig.ledger.db, id)).find((each) => each.decision.decisionId === decision.decisionId);
}

const clearCredentials = (db: Database, id: string) =>
  db.deleteFrom('credentials').where('migration_id', '=', id).execute();
const staged = (db: Database, id: string) =>
  db.selectFrom('staged_credentials').select('row').where('migration_id', '=', id).execute();

/**
 * Returns a migration in which credentials for all but the last company are staged, and the decision `d` with their
 * digest.
 */
async function stagedMigration(replaces: boolean) {
  const { id, rows } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
  const { db } = rig.ledger;
  await clearCredentials(db, id);
  if (replaces) for (const { row } of rows) await updateRow(db, id, row, { state: 'failed', failure: 'refused' });
  const stage = async (...some: typeof rows) =>
    stageCredentials(
      db,
      id,
      some.map((row) => credentialOf(row)),
      'Cleo',
      { decisionId: 'd', replaces },
    );
  await stage(...rows.slice(0, 2));
  const sealedDigest = await readStagedDigest(db, id, { decisionId: 'd', replaces });
  const decision: Decision = replaces
    ? { kind: 'replace-credential', decisionId: 'd', companies: ['c1', 'c2'], sealedDigest, role: 'support', by: 'Sam' }
    : { kind: 'credentials-supplied', decisionId: 'd', companies: 2, sealedDigest, ...sent };
  return { db, id, rows, stage, decision };
}

describe.each([false, true])('credentials (replacements: %s)', (replaces) => {
  test('are used if the decision names them', async () => {
    const { db, id, decision } = await stagedMigration(replaces);
    expect(await record(id, decision)).toMatchObject({ outcome: { applied: true, text: 'done' } });
    expect(await rowsWithCredential(db, id)).toEqual([1, 2]);
  });

  test.each<[string, (given: Awaited<ReturnType<typeof stagedMigration>>) => Promise<unknown>]>([
    ['replaced', async ({ rows: [first], stage }) => stage(first!)],
    ['added', async ({ rows: [, , third], stage }) => stage(third!)],
    [
      'removed with all others',
      async ({ db, id }) => db.deleteFrom('staged_credentials').where('migration_id', '=', id).execute(),
    ],
    [
      'swapped with that of another company',
      async ({ db, id }) =>
        sql`
          update staged_credentials s set sealed = o.sealed from staged_credentials o
          where s.migration_id = ${id} and o.migration_id = ${id} and s.row <> o.row`.execute(db),
    ],
    [
      'removed',
      async ({ db, id }) =>
        db.deleteFrom('staged_credentials').where('migration_id', '=', id).where('row', '=', 1).execute(),
    ],
    [
      'given another time',
      async ({ db, id }) =>
        sql`update staged_credentials set obtained_at = obtained_at + interval '1 ms' where migration_id = ${id} and row = 1`.execute(
          db,
        ),
    ],
  ])('are all refused if one of them was %s after the signature', async (_, change) => {
    const given = await stagedMigration(replaces);
    const { db, id, decision } = given;
    await change(given);
    const recorded = await record(id, decision);
    expect(recorded?.outcome.applied).toBe(false);
    expect(recorded?.outcome.text).toMatch(
      /^the encrypted credentials did not all arrive, or do not match this decision/,
    );
    expect(await rowsWithCredential(db, id)).toEqual([]);
    expect(await staged(db, id)).toEqual([]);
    if (replaces) expect(await readRow(db, id, 1)).toMatchObject({ state: 'failed' });
  });

  test.each<[string, (db: Database, id: string) => Promise<unknown>, RegExp]>([
    [
      'one was altered',
      (db, id) =>
        sql`update staged_credentials set sealed = set_byte(sealed, 80, 255 - get_byte(sealed, 80))
          where migration_id = ${id} and row = 2`.execute(db),
      /^1 of 2 credentials cannot be opened, so no supplied credential is used. Affected: 1 company \(c2\)\./,
    ],
    [
      'two were swapped',
      (db, id) =>
        sql`update staged_credentials s set sealed = other.sealed from staged_credentials other
          where s.migration_id = ${id} and other.migration_id = ${id} and other.row = 3 - s.row`.execute(db),
      /^2 of 2 credentials cannot be opened, so no supplied credential is used. Affected: 2 companies \(c1, c2\)\./,
    ],
  ])(
    'are all refused if %s before they were supplied, and the affected companies are named',
    async (_, change, why) => {
      const { db, id, decision } = await stagedMigration(replaces);
      await change(db, id);
      // The decision has the digest of the altered boxes, so only opening them shows the change.
      const sealedDigest = await readStagedDigest(db, id, { decisionId: 'd', replaces });
      const recorded = await record(id, { ...decision, sealedDigest });
      expect(recorded?.outcome.applied).toBe(false);
      expect(recorded?.outcome.text).toMatch(why);
      expect(await rowsWithCredential(db, id)).toEqual([]);
      expect(await staged(db, id)).toEqual([]);
      if (replaces) expect(await readRow(db, id, 1)).toMatchObject({ state: 'failed' });
    },
  );

  test('cannot be staged once their decision is recorded', async () => {
    const { db, id, rows, stage, decision } = await stagedMigration(replaces);
    await record(id, decision);
    if (replaces) await updateRow(db, id, 1, { state: 'failed', failure: 'refused' });
    expect(await stage(rows[0]!)).toMatchObject({ stored: [], wrongState: ['c1'] });
    expect(await staged(db, id)).toEqual([]);
  });
});

test('credentials cannot be replaced while their decision is being recorded', async () => {
  const { db, id, rows, stage, decision } = await stagedMigration(false);
  const blocker = await db.startTransaction().execute();
  await sql`select from companies where migration_id = ${id} for update`.execute(blocker);
  const recording = record(id, decision);
  await untilBlocked(db);
  const staging = stage(rows[0]!);
  await untilBlocked(db, 2);
  await blocker.commit().execute();
  expect(await recording).toMatchObject({ outcome: { applied: true } });
  expect(await staging).toMatchObject({ stored: [] });
});

describe('a client secret', () => {
  const application = { clientId: 'the-clients-own', environment: 'production' } as const;
  const [box, other] = [Buffer.from('a box'), Buffer.from('another box')];
  const sealedDigest = applicationDigest({ ...application, boxHash: hashOfBox(box) });
  const supplied: Decision = { kind: 'application-supplied', decisionId: 'd', ...application, sealedDigest, ...sent };

  test('is used if the decision names it', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    const { db } = rig.ledger;
    await stageApplication(db, id, 'd', { ...application, sealed: box });
    expect(await record(id, supplied)).toMatchObject({ outcome: { applied: true } });
    await stageApplication(db, id, 'd', { ...application, sealed: other });
    expect(await readUnregisteredApplication(db, id)).toEqual({ decisionId: 'd', ...application, sealed: box });
    await db.updateTable('sealed_applications').set({ sealed: other }).where('migration_id', '=', id).execute();
    expect(await readUnregisteredApplication(db, id)).toBeNull();
  });

  test('is refused and deleted if it was replaced, and refused if it has not arrived', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    const { db } = rig.ledger;
    await stageApplication(db, id, 'd', { ...application, sealed: other });
    const refusal = {
      outcome: {
        applied: false,
        text: expect.stringMatching(/^the encrypted client secret did not arrive, or/) as string,
      },
    };
    expect(await record(id, supplied)).toMatchObject(refusal);
    expect(await record(id, { ...supplied, decisionId: 'e' })).toMatchObject(refusal);
    // Only the client is told to inform support.
    const textFor = async (role: 'client' | 'support') =>
      (await record(id, { ...supplied, decisionId: role, role }))?.outcome.text;
    expect(await textFor('client')).toMatch(
      /; supply the client secret again, and tell support if this happens twice$/,
    );
    expect(await textFor('support')).toMatch(/; supply the client secret again$/);
    expect(await readUnregisteredApplication(db, id)).toBeNull();
    const left = await db
      .selectFrom('sealed_applications')
      .select('decision_id')
      .where('migration_id', '=', id)
      .execute();
    expect(left).toEqual([]);
  });
});
