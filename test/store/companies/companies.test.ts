/** Confirmations, and the choice of the first company. */
import { chooseFirstCompany, confirmDisabled, findCompany, findUnknownReferences } from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/ledger';

const ledger = useLedger();

describe('a confirmation that syncing is disabled', () => {
  test('applies only to the companies it names', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    for (const row of [1, 2, 3]) await updateRow(ledger.db, id, row, { confirmed_at: null });
    const at = '2026-03-03T08:00:00.000Z';
    await confirmDisabled(ledger.db, { migrationId: id, companies: ['c1', 'c3', 'c7'], by: 'Cleo', at });
    const times = await Promise.all(
      [1, 2, 3].map(async (row) => (await findCompany(ledger.db, id, { row }))?.confirmedAt),
    );
    expect(times).toEqual([new Date(at), null, new Date(at)]);
  });

  test('can name companies that the manifest lacks, which are reported', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    expect(await findUnknownReferences(ledger.db, id, ['c1', 'c7', 'c2'])).toEqual(['c7']);
  });

  test('that is repeated does not change the first', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await confirmDisabled(ledger.db, { migrationId: id, companies: 'all', by: 'Carl', at: '2026-03-09T08:00:00.000Z' });
    expect(await readRow(ledger.db, id, 1)).toMatchObject({
      confirmed_by: 'Cleo',
      confirmed_at: new Date(CONFIRMED_AT),
    });
  });

  test('does not apply to a company that is no longer waiting', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { confirmed_at: null, state: 'excluded' });
    await confirmDisabled(ledger.db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
    expect((await readRow(ledger.db, id, 1)).confirmed_at).toBeNull();
  });
});

describe('the first company', () => {
  test('is the requested one', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    expect(await chooseFirstCompany(ledger.db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
  });

  test('is otherwise the first of the lowest wave that can be moved', async () => {
    const { id } = await createMovableMigration(
      ledger,
      manifestRows(5, (row) => ({ wave: row === 1 ? null : row === 2 ? 2 : 1 })),
    );
    await updateRow(ledger.db, id, 3, { confirmed_at: null });
    await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 4).execute();
    expect(await chooseFirstCompany(ledger.db, id, null)).toEqual({ row: 5, reference: 'c5' });
  });

  test('is null when none can be moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { confirmed_at: null });
    expect(await chooseFirstCompany(ledger.db, id, null)).toBeNull();
  });

  test('that was not moved goes back to waiting', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete', failure_text: 'too few' });
    expect(await chooseFirstCompany(ledger.db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
    expect(await readRow(ledger.db, id, 2)).toMatchObject({ state: 'waiting', failure: null, failure_text: null });
  });

  test('with an unknown outcome goes back to waiting when support requests it', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { state: 'outcome-unknown', failure_text: 'the answer was lost' });
    expect(await chooseFirstCompany(ledger.db, id, 'c1')).toEqual({ row: 1, reference: 'c1' });
  });

  test('that has moved is checked again, because its credential is gone', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { state: 'migrated' });
    await chooseFirstCompany(ledger.db, id, 'c1');
    const row = await readRow(ledger.db, id, 1);
    expect(row).toMatchObject({ state: 'syncing', next_check_at: expect.any(Date) as Date });
  });
});
