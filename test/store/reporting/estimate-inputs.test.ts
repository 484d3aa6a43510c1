/** Inputs of an estimate: the remaining volume and the measured speed. */
import { saveSpeed, measureSpeed, readSpeed, readVolume, supplyMigration } from '../../../store';
import {
  suppliedMigration,
  CONFIRMED_AT,
  createMovableMigration,
  useLedger,
  updateRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

describe('the volume', () => {
  test('covers the remaining companies, and counts those without a number of records separately', async () => {
    const migration = suppliedMigration();
    const rows = manifestRows(5, (row) => ({ expectedInvoices: row === 4 ? null : row * 100 }));
    await supplyMigration(ledger.db, migration, rows);
    await updateRow(ledger.db, migration.id, 3, { state: 'excluded' });
    await updateRow(ledger.db, migration.id, 5, { state: 'moved' });
    expect(await readVolume(ledger.db, migration.id)).toEqual({
      companies: 3,
      records: 300,
      companiesWithoutVolume: 1,
      largestCompany: 200,
      largestFamily: 0,
      staleSince: null,
    });
  });

  test('includes the size of the largest token family and the time since which data is out of date', async () => {
    const { id } = await createMovableMigration(
      ledger,
      manifestRows(6, (row) => ({ family: row <= 3 ? 'anna' : row === 4 ? 'ben' : null })),
    );
    expect(await readVolume(ledger.db, id)).toMatchObject({ companies: 6, largestFamily: 3, staleSince: CONFIRMED_AT });
    await updateRow(ledger.db, id, 1, { state: 'failed' });
    expect(await readVolume(ledger.db, id)).toMatchObject({ companies: 5, largestFamily: 2 });
  });

  test('shares a supplied total among the companies whose rows have no number of invoices', async () => {
    const expected = (row: number) => ({ expectedInvoices: row === 1 ? 100 : null });
    const { id } = await createMovableMigration(ledger, manifestRows(5, expected), { recordsInTotal: 900 });
    expect(await readVolume(ledger.db, id)).toMatchObject({ companies: 5, records: 900, companiesWithoutVolume: 0 });
    await updateRow(ledger.db, id, 5, { state: 'moved' });
    expect(await readVolume(ledger.db, id)).toMatchObject({ companies: 4, records: 700, companiesWithoutVolume: 0 });
  });

  test('is zero if no company remains to be moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { state: 'moved' });
    expect(await readVolume(ledger.db, id)).toMatchObject({
      companies: 0,
      records: 0,
      largestCompany: 0,
      staleSince: null,
    });
  });
});

describe('the measured speed', () => {
  const found = (records: number): string =>
    JSON.stringify([
      { code: 'authorized', label: 'connection authorized', passed: true, detail: '' },
      {
        code: 'complete',
        label: 'bills complete',
        passed: true,
        detail: '',
        records: { dataType: 'bills', expected: null, found: 7 },
      },
      {
        code: 'complete',
        label: 'invoices complete',
        passed: true,
        detail: '',
        records: { dataType: 'invoices', expected: 1, found: records },
      },
    ]);

  test('uses the number of records found in moved companies', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(4));
    for (const row of [1, 2, 3]) {
      const measured = { import_ms: row * 100, sync_ms: 1_000 + row * 50, evidence: found(row * 10) };
      await updateRow(ledger.db, id, row, { state: 'moved', ...measured });
    }
    await updateRow(ledger.db, id, 4, { state: 'failed', import_ms: 90_000, sync_ms: 90_000 });
    const measured = await measureSpeed(ledger.db, id);
    expect(measured).toMatchObject({ companies: 3, importMs: 200, syncMs: 1_100, records: 20 });
    expect(measured?.base).toBeCloseTo(1_000);
    expect(measured?.slope).toBeCloseTo(5);
  });

  test('has no regression line if all companies have the same size', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    for (const row of [1, 2])
      await updateRow(ledger.db, id, row, { state: 'moved', import_ms: 1, sync_ms: row, evidence: found(3) });
    expect(await measureSpeed(ledger.db, id)).toMatchObject({ companies: 2, base: null, slope: null });
  });

  test('is null until a company has moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    expect(await measureSpeed(ledger.db, id)).toBeNull();
  });
});

test('stores the latest measured speed of a platform', async () => {
  expect(await readSpeed(ledger.db, 'qhyg')).toBeNull();
  const speed = { importMs: 1, syncBaseMs: 2, msPerRecord: 3 };
  await saveSpeed(ledger.db, 'qhyg', { speed, basis: 'migration', companies: 9 });
  await saveSpeed(ledger.db, 'qhyg', { speed: { ...speed, importMs: 4 }, basis: 'migration', companies: 10 });
  expect(await readSpeed(ledger.db, 'qhyg')).toEqual({
    speed: { ...speed, importMs: 4 },
    basis: 'platform',
    companies: 10,
  });
  expect(await readSpeed(ledger.db, 'gbol')).toBeNull();
});
