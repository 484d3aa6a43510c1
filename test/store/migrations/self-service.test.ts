/**
 * The self-service route in the ledger: rows are confirmed when supplied, and can name existing companies and
 * connections.
 */
import { randomUUID } from 'node:crypto';
import { ManifestDigest, manifestDigest } from '../../../cli/manifest';
import type { ManifestRow } from '../../../domain/companies/manifest';
import type { Database } from '../../../store';
import { amendManifest, readMigration, supplyMigration } from '../../../store';
import type { Ledger } from '../../support/ledger';
import { suppliedMigration, openLedger, readRow, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

const named = (connectionId: string | null = null) => ({ companyId: randomUUID(), connectionId });

async function supplied(rows: readonly ManifestRow[]): Promise<string> {
  const migration = suppliedMigration({ route: 'self-service', rotating: false });
  await supplyMigration(db, migration, rows);
  return migration.id;
}

const amend = (migrationId: string, rows: readonly ManifestRow[]) =>
  amendManifest(db, { migrationId, rows, createDigest: () => new ManifestDigest() });

test('supplying confirms companies in the self-service route, not in the managed route', async () => {
  const id = await supplied(manifestRows(1));
  expect(await readRow(db, id, 1)).toMatchObject({ confirmed_at: expect.any(Date) as Date, confirmed_by: 'Cleo' });
  const managed = suppliedMigration();
  await supplyMigration(db, managed, manifestRows(1));
  expect(await readRow(db, managed.id, 1)).toMatchObject({ confirmed_at: null, confirmed_by: null });
});

test('stores the company and connection ids that the client supplied, and that they were supplied', async () => {
  const [company, connection] = [named(), named(randomUUID())];
  const id = await supplied(
    manifestRows(3, (row) => (row === 1 ? { named: company } : row === 2 ? { named: connection } : {})),
  );
  expect(await readRow(db, id, 1)).toMatchObject({
    named: 'company',
    company_id: company.companyId,
    connection_id: null,
  });
  expect(await readRow(db, id, 2)).toMatchObject({
    named: 'connection',
    company_id: connection.companyId,
    connection_id: connection.connectionId,
  });
  expect(await readRow(db, id, 3)).toMatchObject({ named: null, company_id: null });
});

test('lets supplied ids be corrected until the first try; corrected and added rows stay confirmed', async () => {
  const rows = manifestRows(2, () => ({ named: named() }));
  const id = await supplied(rows);
  const other = named(randomUUID());
  const [first, second] = rows.map((row) => ({ ...row, named: other }));
  if (!first || !second) throw new Error('there are two rows');
  await db.updateTable('companies').set({ tries: 1 }).where('migration_id', '=', id).where('row', '=', 2).execute();
  const [late] = manifestRows(1, () => ({ reference: 'late' }));
  expect(await amend(id, [first, second, ...(late ? [late] : [])])).toMatchObject({
    corrected: [first.reference],
    tooLate: [second.reference],
    added: ['late'],
  });
  expect(await readRow(db, id, 1)).toMatchObject({
    named: 'connection',
    company_id: other.companyId,
    connection_id: other.connectionId,
    confirmed_by: 'Cleo',
  });
  expect(await readRow(db, id, 3)).toMatchObject({ confirmed_by: 'Cleo', named: null });
});

test('computes the same digest from ledger and manifest; other supplied ids give another one', async () => {
  const rows = manifestRows(2, (row) => (row === 1 ? { named: named(randomUUID()) } : {}));
  const id = await supplied(rows);
  await amend(id, rows);
  expect((await readMigration(db, id))?.manifestDigest).toBe(manifestDigest(rows));
  expect(manifestDigest(rows.map((row) => ({ ...row, named: null })))).not.toBe(manifestDigest(rows));
});
