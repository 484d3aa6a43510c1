import { readRefused } from '../../../cli/credentials/refused-credentials';
import { NOT_CHECKED } from '../../../domain/companies/company-state';
import { emptySupplyResult, supplyMigration } from '../../../store';
import { manifestRows, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

const refused = async (isSealed: boolean) => {
  const times = { obtainedAt: '2026-11-23T22:57:10.000Z', confirmedAt: '2026-11-23T22:57:30.000Z' };
  const supplied = { ...emptySupplyResult(), obtainedTooEarly: [{ reference: 'K-1', ...times }] };
  const supply = { migrationId: 'acme.wave', file: 'credentials.csv', isSealed, portal: null };
  const [group] = await readRefused({} as never, supply, supplied, 'credentials');
  return group?.details.join('\n') ?? '';
};

test('only for a sealed file, the advice is to seal it again with the time of the export', async () => {
  expect(await refused(true)).toContain(
    'the client must specify the time of the export with --obtained-at when sealing the file',
  );
  expect(await refused(false)).not.toContain('seal');
  expect(await refused(false)).toContain('if no row contains obtainedAt, specify the time');
});

test('the suggested confirmation of more companies than fit into a command names all of them, or says how many others to specify', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(80));
  const detailsFor = async (companies: number) => {
    const obtainedTooEarly = Array.from({ length: companies }, (_, index) => ({
      ...{ reference: `c${index + 1}`, obtainedAt: '2026-11-23T22:57:10.000Z', confirmedAt: null },
    }));
    const supply = { migrationId: migration.id, file: 'credentials.csv', isSealed: false, portal: null };
    const supplied = { ...emptySupplyResult(), obtainedTooEarly };
    const [group] = await readRefused(ledger.db, supply, supplied, 'credentials');
    return group?.details.join('\n') ?? '';
  };
  expect(await detailsFor(50)).not.toContain('add the references');
  expect(await detailsFor(79)).toMatch(
    / c50 --as client .*\nthe command names only the first 50 companies: add the references of the other 29\n/,
  );
  // Once company 80 is confirmed, `--all` confirms exactly the other 79 companies.
  await updateRow(ledger.db, migration.id, 80, { confirmed_at: new Date() });
  expect(await detailsFor(79)).toMatch(/ confirm-sync-disabled \S+ --all --as client --by "your name"\nafter the/);
  await updateRow(ledger.db, migration.id, 80, { confirmed_at: null });
  // The first 59 companies are wave 1. `--wave 1` would confirm more than the first 58 of them.
  await ledger.db
    .updateTable('companies')
    .set({ wave: 1 })
    .where('migration_id', '=', migration.id)
    .where('row', '<=', 59)
    .execute();
  expect(await detailsFor(59)).toMatch(/ confirm-sync-disabled \S+ --wave 1 --as client --by "your name"\nafter the/);
  expect(await detailsFor(58)).toMatch(/ c50 --as client .*\nthe command names only the first 50 companies/);
  expect(await detailsFor(60)).toMatch(/ c50 --as client .*\nthe command names only the first 50 companies/);
});

test('companies that the preflight holds back are corrected before the client confirms them', async () => {
  const migration = suppliedMigration();
  const { id } = migration;
  await supplyMigration(ledger.db, migration, manifestRows(3));
  const obtainedTooEarly = ['c1', 'c2', 'c3'].map((reference) => ({
    ...{ reference, obtainedAt: '2026-11-23T22:57:10.000Z', confirmedAt: null },
  }));
  const details = async () => {
    const supply = { migrationId: id, file: 'credentials.csv', isSealed: false, portal: 'https://portal.example' };
    const [group] = await readRefused(ledger.db, supply, { ...emptySupplyResult(), obtainedTooEarly }, 'credentials');
    return group?.details ?? [];
  };
  // A worker checks a row that was not checked yet, so nobody has to correct it.
  await updateRow(ledger.db, id, 1, { held_back: NOT_CHECKED });
  expect((await details())[0]).toMatch(/^once syncing is off, the client confirms it with: ferry --portal /);
  await updateRow(ledger.db, id, 2, { held_back: 'no access' });
  const [first, second] = await details();
  expect(first).toBe(
    `the preflight holds back 1 company (c2): before the client confirms it, correct it or leave it out; to see why and how, run: ferry exceptions ${id}`,
  );
  expect(second).toMatch(/^once syncing is off, /);
  await updateRow(ledger.db, id, 3, { held_back: 'no access' });
  expect((await details())[0]).toContain(
    '2 companies (c2, c3): before the client confirms them, correct them or leave them out;',
  );
});

test('times that differ by seconds are shown with seconds', async () => {
  expect(await refused(false)).toContain(
    'K-1: tokens obtained Mon 23 Nov 2026, 22:57:10 UTC; client confirmed Mon 23 Nov 2026, 22:57:30 UTC',
  );
});

test.each([
  ['managed', ''],
  ['self-service', ' --as client --by Mia'],
] as const)('%s: the suggested replacement names the role that can decide it', async (route, decides) => {
  const migration = suppliedMigration({ route, suppliedBy: 'Mia' });
  const { id } = migration;
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await updateRow(ledger.db, id, 1, { state: 'failed' });
  const detailsFor = async (portal: string | null) => {
    const supply = { migrationId: id, file: 'credentials.csv', isSealed: false, portal };
    const [group] = await readRefused(ledger.db, supply, { ...emptySupplyResult(), wrongState: ['c1'] }, 'credentials');
    return group?.details;
  };
  const words = `replace-credential ${id} credentials.csv`;
  expect(await detailsFor(null)).toEqual([`to replace the credentials, run: ferry ${words}${decides}`]);
  const inPortal = route === 'managed' ? `ferry ${words}` : `ferry --portal https://portal.example ${words}`;
  expect(await detailsFor('https://portal.example')).toEqual([`to replace the credentials, run: ${inPortal}`]);
});
