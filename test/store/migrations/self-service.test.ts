/**
 * The self-service route in the ledger: rows are confirmed when they are supplied, and can contain the ids of existing
 * companies and connections.
 */
import { randomUUID } from 'node:crypto';
import { manifestDigest } from '../../../cli/manifest';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { amendManifest, readMigration, supplyMigration } from '../../../store';
import { suppliedMigration, useLedger, readRow, manifestRows } from '../../support/migrations/ledger';

const ledger = useLedger();

const existingCompany = (connectionId: string | null = null) => ({ companyId: randomUUID(), connectionId });

async function supplySelfService(rows: readonly ManifestRow[]): Promise<string> {
  const migration = suppliedMigration({ route: 'self-service', rotating: false });
  await supplyMigration(ledger.db, migration, rows);
  return migration.id;
}

const amend = (migrationId: string, rows: readonly ManifestRow[]) => amendManifest(ledger.db, { migrationId, rows });

test('confirms supplied companies in the self-service route, but not in the managed route', async () => {
  const id = await supplySelfService(manifestRows(1));
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    confirmed_at: expect.any(Date) as Date,
    confirmed_by: 'Cleo',
  });
  const managed = suppliedMigration();
  await supplyMigration(ledger.db, managed, manifestRows(1));
  expect(await readRow(ledger.db, managed.id, 1)).toMatchObject({ confirmed_at: null, confirmed_by: null });
});

test('stores supplied company and connection ids, and records which ids were supplied', async () => {
  const [company, connection] = [existingCompany(), existingCompany(randomUUID())];
  const id = await supplySelfService(
    manifestRows(3, (row) => (row === 1 ? { existing: company } : row === 2 ? { existing: connection } : {})),
  );
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    named: 'company',
    company_id: company.companyId,
    connection_id: null,
  });
  expect(await readRow(ledger.db, id, 2)).toMatchObject({
    named: 'connection',
    company_id: connection.companyId,
    connection_id: connection.connectionId,
  });
  expect(await readRow(ledger.db, id, 3)).toMatchObject({ named: null, company_id: null });
});

test('corrects supplied ids until the first try, and confirms corrected and added rows', async () => {
  const rows = manifestRows(2, () => ({ existing: existingCompany() }));
  const id = await supplySelfService(rows);
  const other = existingCompany(randomUUID());
  const [first, second] = rows.map((row) => ({ ...row, existing: other }));
  if (!first || !second) throw new Error('there should be two rows');
  await ledger.db
    .updateTable('companies')
    .set({ tries: 1 })
    .where('migration_id', '=', id)
    .where('row', '=', 2)
    .execute();
  const [late] = manifestRows(1, () => ({ reference: 'late' }));
  expect(await amend(id, [first, second, ...(late ? [late] : [])])).toMatchObject({
    corrected: [first.reference],
    tooLate: [second.reference],
    added: ['late'],
  });
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    named: 'connection',
    company_id: other.companyId,
    connection_id: other.connectionId,
    confirmed_by: 'Cleo',
  });
  expect(await readRow(ledger.db, id, 3)).toMatchObject({ confirmed_by: 'Cleo', named: null });
});

test('computes the same digest from the ledger as from the manifest, and a different digest if the supplied ids differ', async () => {
  const rows = manifestRows(2, (row) => (row === 1 ? { existing: existingCompany(randomUUID()) } : {}));
  const id = await supplySelfService(rows);
  await amend(id, rows);
  expect((await readMigration(ledger.db, id))?.manifestDigest).toBe(manifestDigest(rows));
  expect(manifestDigest(rows.map((row) => ({ ...row, existing: null })))).not.toBe(manifestDigest(rows));
});
