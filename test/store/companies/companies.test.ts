/** Confirmations and the choice of the first company. */
import { confirmDisabled, findCompany, findUnknownReferences } from '../../../store';
import {
  chooseFirst,
  CONFIRMED_AT,
  createMovableMigration,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

describe('confirmations', () => {
  test('apply only to the given companies', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    for (const row of [1, 2, 3]) await updateRow(ledger.db, id, row, { confirmed_at: null });
    const at = '2026-03-03T08:00:00.000Z';
    await confirmDisabled(ledger.db, { migrationId: id, companies: ['c1', 'c3', 'c7'], by: 'Cleo', at });
    const times = await Promise.all(
      [1, 2, 3].map(async (row) => (await findCompany(ledger.db, id, { row }))?.confirmedAt),
    );
    expect(times).toEqual([new Date(at), null, new Date(at)]);
  });

  test('can be checked for references that are not in the manifest', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    expect(await findUnknownReferences(ledger.db, id, ['c1', 'c7', 'c2'])).toEqual(['c7']);
  });

  test('keep the first confirmation of a company', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await confirmDisabled(ledger.db, { migrationId: id, companies: 'all', by: 'Carl', at: '2026-03-09T08:00:00.000Z' });
    expect(await readRow(ledger.db, id, 1)).toMatchObject({
      confirmed_by: 'Cleo',
      confirmed_at: new Date(CONFIRMED_AT),
    });
  });

  test('do not apply to a company that is no longer waiting', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { confirmed_at: null, state: 'excluded' });
    await confirmDisabled(ledger.db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
    expect((await readRow(ledger.db, id, 1)).confirmed_at).toBeNull();
  });
});

describe('the first company', () => {
  test('is the requested company', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    expect(await chooseFirst(ledger.db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
  });

  test('is the first company of the lowest wave that can be moved, if none is requested', async () => {
    const { id } = await createMovableMigration(
      ledger,
      manifestRows(5, (row) => ({ wave: row === 1 ? null : row === 2 ? 2 : 1 })),
    );
    await updateRow(ledger.db, id, 3, { confirmed_at: null });
    await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 4).execute();
    expect(await chooseFirst(ledger.db, id, null)).toEqual({ row: 5, reference: 'c5' });
  });

  test('is null if no company can be moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { confirmed_at: null });
    expect(await chooseFirst(ledger.db, id, null)).toBeNull();
  });

  test('becomes waiting again if it was not moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete', failure_text: 'too few' });
    expect(await chooseFirst(ledger.db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
    expect(await readRow(ledger.db, id, 2)).toMatchObject({ state: 'waiting', failure: null, failure_text: null });
  });

  test('becomes waiting again if its outcome is unknown', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { state: 'outcome-unknown', failure_text: 'the answer was lost' });
    expect(await chooseFirst(ledger.db, id, 'c1')).toEqual({ row: 1, reference: 'c1' });
  });

  test('is checked again if it has moved, because its credential has been deleted', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { state: 'moved' });
    await chooseFirst(ledger.db, id, 'c1');
    const row = await readRow(ledger.db, id, 1);
    expect(row).toMatchObject({ state: 'syncing', next_check_at: expect.any(Date) as Date });
  });
});
