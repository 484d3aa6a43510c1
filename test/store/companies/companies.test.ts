/** Confirmations, and the choice of the company that goes first. */
import type { Database } from '../../../store';
import { chooseFirstCompany, confirmDisabled, findCompany, findUnknown } from '../../../store';
import type { Ledger } from '../../support/ledger';
import { CONFIRMED_AT, createMovableMigration, openLedger, putRow, readRow, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

describe('a confirmation that syncing is disabled', () => {
  test('counts for the companies it names, and no other', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    for (const row of [1, 2, 3]) await putRow(db, id, row, { confirmed_at: null });
    const at = '2026-03-03T08:00:00.000Z';
    await confirmDisabled(db, { migrationId: id, companies: ['c1', 'c3', 'c7'], by: 'Cleo', at });
    const times = await Promise.all([1, 2, 3].map(async (row) => (await findCompany(db, id, { row }))?.confirmedAt));
    expect(times).toEqual([new Date(at), null, new Date(at)]);
  });

  test('may name companies that the manifest lacks: they can be told', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    expect(await findUnknown(db, id, ['c1', 'c7', 'c2'])).toEqual(['c7']);
  });

  test('that comes again leaves the first as it is', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await confirmDisabled(db, { migrationId: id, companies: 'all', by: 'Carl', at: '2026-03-09T08:00:00.000Z' });
    expect(await readRow(db, id, 1)).toMatchObject({ confirmed_by: 'Cleo', confirmed_at: new Date(CONFIRMED_AT) });
  });

  test('does nothing to a company that waits no more', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await putRow(db, id, 1, { confirmed_at: null, state: 'excluded' });
    await confirmDisabled(db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
    expect((await readRow(db, id, 1)).confirmed_at).toBeNull();
  });
});

describe('the first company', () => {
  test('is the one that is wanted', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(3));
    expect(await chooseFirstCompany(db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
  });

  test('is otherwise the first of the lowest wave that can be moved', async () => {
    const { id } = await createMovableMigration(
      ledger,
      manifestRows(5, (row) => ({ wave: row === 1 ? null : row === 2 ? 2 : 1 })),
    );
    await putRow(db, id, 3, { confirmed_at: null });
    await db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 4).execute();
    expect(await chooseFirstCompany(db, id, null)).toEqual({ row: 5, reference: 'c5' });
  });

  test('is nobody when none can be moved', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await putRow(db, id, 1, { confirmed_at: null });
    expect(await chooseFirstCompany(db, id, null)).toBeNull();
  });

  test('that has failed is put back to be moved again', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2));
    await putRow(db, id, 2, { state: 'failed', failure: 'incomplete', failure_text: 'too few' });
    expect(await chooseFirstCompany(db, id, 'c2')).toEqual({ row: 2, reference: 'c2' });
    expect(await readRow(db, id, 2)).toMatchObject({ state: 'waiting', failure: null, failure_text: null });
  });

  test('of which nobody knows is put back as well, when support asks for it once more', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await putRow(db, id, 1, { state: 'outcome-unknown', failure_text: 'the answer was lost' });
    expect(await chooseFirstCompany(db, id, 'c1')).toEqual({ row: 1, reference: 'c1' });
  });

  test('that is migrated is looked at again: its credential is gone, and nothing crosses twice', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await putRow(db, id, 1, { state: 'migrated' });
    await chooseFirstCompany(db, id, 'c1');
    const row = await readRow(db, id, 1);
    expect(row).toMatchObject({ state: 'syncing', next_check_at: expect.any(Date) as Date });
  });
});
