import { readNextCompanies, readSuggestedCompanies } from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  OBTAINED_AT,
  useLedger,
  updateRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const WAVES = [2, 1, 1, 1, 1, null];

test('counts the companies of the lowest waiting wave, without those held back, moved or left out', async () => {
  const { id } = await createMovableMigration(
    ledger,
    manifestRows(6, (row) => ({ wave: WAVES[row - 1] ?? null })),
  );
  await updateRow(ledger.db, id, 2, { confirmed_at: null });
  await updateRow(ledger.db, id, 3, { confirmed_at: new Date(Date.parse(OBTAINED_AT) + 1) });
  await updateRow(ledger.db, id, 4, { held_back: 'already connected' });
  await updateRow(ledger.db, id, 6, { company_id: '6f1c1f9e-0000-4000-8000-000000000000' });
  expect(await readNextCompanies(ledger.db, id)).toEqual({
    next: {
      ...{ wave: 1, companies: 3, unconfirmed: 1, withoutCredential: 1, firstWithoutCredential: ['c3'] },
      ...{ leftBehind: 0, firstLeftBehind: [], oldestCredentialAt: OBTAINED_AT },
    },
    toCreate: 4,
  });
  for (const row of [2, 3, 4, 5]) await updateRow(ledger.db, id, row, { state: 'excluded' });
  expect((await readNextCompanies(ledger.db, id)).next).toMatchObject({ wave: 2, companies: 1 });
  await updateRow(ledger.db, id, 1, { state: 'excluded' });
  expect((await readNextCompanies(ledger.db, id)).next).toMatchObject({ wave: null, companies: 1 });
  await updateRow(ledger.db, id, 6, { state: 'moved' });
  expect((await readNextCompanies(ledger.db, id)).next).toMatchObject({
    wave: null,
    companies: 0,
    oldestCredentialAt: null,
  });
});

test('skips lower waves in which no company can be moved, and names their companies', async () => {
  const { id } = await createMovableMigration(
    ledger,
    manifestRows(4, (row) => ({ wave: [1, 2, 3, null][row - 1] ?? null })),
  );
  await updateRow(ledger.db, id, 1, { confirmed_at: new Date(Date.parse(OBTAINED_AT) + 1) });
  await updateRow(ledger.db, id, 2, { confirmed_at: null });
  const next = async () => (await readNextCompanies(ledger.db, id)).next;
  expect(await next()).toMatchObject({ wave: 3, companies: 1, leftBehind: 2, firstLeftBehind: ['c1', 'c2'] });
  await updateRow(ledger.db, id, 3, { state: 'moved' });
  expect(await next()).toMatchObject({ wave: null, companies: 1, leftBehind: 2 });
  await updateRow(ledger.db, id, 4, { confirmed_at: null });
  expect(await next()).toMatchObject({ wave: 1, companies: 1, withoutCredential: 1, leftBehind: 0 });
});

test('accepts a credential from before the confirmation if the platform does not rotate tokens', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1), { rotating: false });
  await updateRow(ledger.db, id, 1, { confirmed_at: new Date(Date.parse(CONFIRMED_AT) + 86_400_000) });
  expect((await readNextCompanies(ledger.db, id)).next).toMatchObject({ companies: 1, withoutCredential: 0 });
});

test('the companies for suggested commands show whether the first company was left out', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  const isLeftOut = async () => (await readSuggestedCompanies(ledger.db, id, 'c1')).firstLeftOut;
  await updateRow(ledger.db, id, 1, { state: 'failed' });
  expect(await isLeftOut()).toBe(false);
  await updateRow(ledger.db, id, 1, { state: 'excluded' });
  expect(await isLeftOut()).toBe(true);
});
