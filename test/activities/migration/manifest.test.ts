/** Recording a decision that supplies the manifest: the ledger checks the staged rows, and replaces all companies. */
import { randomUUID } from 'node:crypto';
import type { ManifestRow } from '../../../domain/companies/manifest';
import {
  countCompanies,
  lockDecisions,
  manifestDigest,
  openMigration,
  openVault,
  readDecisions,
  readLedgerSummary,
  readMigration,
  stageManifest,
  supplyCredentials,
  supplyMigration,
} from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { credentialOf, manifestRows, readRow, suppliedMigration, updateRow } from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, CLEO, recordOf, SIGNED, steps1To3 } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

/** Opens a migration with these companies, before anything has been decided. */
async function openedMigration(rows: readonly ManifestRow[] = []): Promise<string> {
  const { db, keys } = rig.ledger;
  const migration = {
    ...suppliedMigration(),
    rotating: false,
    suppliedBy: 'Sam',
    manifestDigest: manifestDigest(rows),
  };
  await supplyMigration(db, migration, rows);
  await openMigration(db, migration.id);
  await openVault(db, keys, migration.id);
  return migration.id;
}

const record = async (id: string, ...recorded: readonly ReturnType<typeof recordOf>[]) => {
  const { outcomes } = await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  return outcomes.map(({ applied, text }) => (applied ? text : `refused: ${text}`)).at(-1);
};

/** Stages rows, and returns the decision that supplies them. */
async function stagedManifest(id: string, rows: readonly ManifestRow[], named: readonly ManifestRow[] = rows) {
  const decisionId = randomUUID();
  for (const [part, row] of rows.entries())
    await stageManifest(rig.ledger.db, id, { decisionId, part, rows: [row] }, 'Cleo');
  const content = { decisionId, manifestDigest: manifestDigest(named), companies: named.length, ...BY_CLEO };
  return recordOf(id, 'manifestSupplied', content, null);
}

const stagedRows = async (id: string) =>
  (await rig.ledger.db.selectFrom('staged_manifests').select('part').where('migration_id', '=', id).execute()).length;

test('the staged rows become the companies of a migration that was started without any', async () => {
  const id = await openedMigration();
  const rows = manifestRows(3);
  const supplied = await stagedManifest(id, rows);
  expect(await record(id, supplied)).toBe('done');
  expect(await readMigration(rig.ledger.db, id)).toMatchObject({
    ...{ manifestDigest: manifestDigest(rows), suppliedBy: 'Cleo' },
  });
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ total: 3, waiting: 3, unconfirmed: 3 });
  expect(await readLedgerSummary(rig.ledger.db, id)).toMatchObject({ manifestDigest: manifestDigest(rows) });
  expect(await stagedRows(id)).toBe(0);
  // The decision is recorded again, as after the death of a worker: the outcome stays, and nothing is replaced.
  await updateRow(rig.ledger.db, id, 1, { name: 'Corrected later' });
  expect(await record(id, supplied)).toBe('done');
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ name: 'Corrected later' });
  expect(await readDecisions(rig.ledger.db, id)).toHaveLength(1);
});

test('a manifest replaces all companies, their credentials and the decisions about them', async () => {
  const before = manifestRows(2);
  const id = await openedMigration(before);
  const { db } = rig.ledger;
  await supplyCredentials(
    db,
    id,
    before.map((row) => credentialOf(row)),
    'Sam',
  );
  await record(id, ...steps1To3(id, { sam: null, cleo: null }));
  expect((await readMigration(db, id))?.released).toBe('first-company');
  // A workflow refuses a manifest once the details have been accepted. The ledger refuses it, too, because the decision
  // can be forged.
  const rows = manifestRows(1);
  expect(await record(id, await stagedManifest(id, rows))).toMatch(/^refused: the details have been accepted/);
  await record(id, recordOf(id, 'reject', { step: 'supply-details', ...BY_SAM }, null));
  expect(await record(id, await stagedManifest(id, rows))).toBe(
    'done; this deleted 2 stored credentials, so supply the credentials again',
  );
  expect(await countCompanies(db, id)).toMatchObject({ total: 1 });
  expect((await readMigration(db, id))?.released).toBe('nothing');
});

test.each<[string, (rows: readonly ManifestRow[]) => readonly ManifestRow[], RegExp]>([
  ['that never arrived', () => [], /have not arrived, .* from two tabs/],
  [
    'with an additional one',
    (rows) => [...rows, { ...rows[0]!, row: 4 }],
    /did not arrive as it was sent, .* from two tabs/,
  ],
  ['of which one is missing', (rows) => rows.slice(0, 2), /did not arrive as it was sent, .* from two tabs/],
  [
    'of which one was replaced',
    ([one, two, three]) => [one!, two!, { ...three!, organization: '1' }],
    /did not arrive as it was sent/,
  ],
])('a manifest with rows %s is refused and changes nothing', async (_, staged, refusal) => {
  const id = await openedMigration(manifestRows(1));
  const rows = manifestRows(3);
  expect(await record(id, await stagedManifest(id, staged(rows), rows))).toMatch(refusal);
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ total: 1 });
  expect(await stagedRows(id)).toBe(0);
});

test.each<[string, Partial<ManifestRow>]>([
  ['reference', { reference: 'c1' }],
  ['organization', { organization: 'SAME' }],
])('a manifest that contains a %s twice is refused', async (_, changes) => {
  const id = await openedMigration();
  const [one, two] = manifestRows(2);
  const rows = [
    { ...one!, ...('organization' in changes ? { organization: 'same' } : {}) },
    { ...two!, ...changes },
  ];
  expect(await record(id, await stagedManifest(id, rows))).toMatch(/more than once/);
});

test('a manifest with an organization of another open migration is refused, without naming that migration', async () => {
  const taken = manifestRows(2);
  const other = await openedMigration(taken);
  const id = await openedMigration();
  const answer = await record(id, await stagedManifest(id, taken));
  expect(answer).toBe(
    'refused: 2 companies (c1, c2) have an organization that is already part of another open migration; remove these companies from the manifest, or ask support',
  );
  expect(answer).not.toContain(other);
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ total: 0 });
});

test.each<[string, object]>([
  ['is being moved', { state: 'importing', attempt: 'a', confirmed_at: new Date() }],
  ['was tried', { tries: 1 }],
  ['was left out', { state: 'excluded' }],
])('a manifest cannot replace a company that %s', async (_, changes) => {
  const id = await openedMigration(manifestRows(2));
  await updateRow(rig.ledger.db, id, 2, changes);
  expect(await record(id, await stagedManifest(id, manifestRows(1)))).toMatch(/^refused: .*(tried|begun|left out)/);
  expect(await countCompanies(rig.ledger.db, id)).toMatchObject({ total: 2 });
});

test('the ledger refuses to accept the details of a migration without companies', async () => {
  const id = await openedMigration();
  expect(await record(id, recordOf(id, 'approve', { step: 'supply-details', ...BY_SAM }, null))).toBe(
    'refused: no manifest has been supplied yet',
  );
});

test('a signed migration accepts no manifest without a signature', async () => {
  const { db } = rig.ledger;
  const migration = { ...suppliedMigration(), decisions: SIGNED };
  await supplyMigration(db, migration, []);
  await openMigration(db, migration.id);
  const unsigned = await stagedManifest(migration.id, manifestRows(1));
  expect(await record(migration.id, unsigned)).toMatch(/^refused: .*signed/);
  const rows = manifestRows(1);
  const { decision } = await stagedManifest(migration.id, rows);
  const signed = recordOf(migration.id, 'manifestSupplied', { ...decision, kind: undefined }, CLEO);
  expect(await record(migration.id, signed)).toBe('done');
});

test('rows that arrive while the decision is recorded wait, and do not become part of the manifest', async () => {
  const id = await openedMigration();
  const { db } = rig.ledger;
  let arrival: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    await lockDecisions(tx, id);
    arrival = stageManifest(db, id, { decisionId: 'd', part: 0, rows: manifestRows(1) }, 'Cleo');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await stagedRows(id)).toBe(0);
  });
  await arrival;
  expect(await stagedRows(id)).toBe(1);
  await stageManifest(db, id, { decisionId: 'later', part: 0, rows: manifestRows(1) }, 'Cleo');
  expect(await stagedRows(id)).toBe(1);
});
