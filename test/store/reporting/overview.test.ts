/** The ledger's figures from which commands derive the expected end. */
import { countCompanies, readOverviews } from '../../../store';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

test('the figures contain the same number of deferred companies as the counts of the workflow', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(6));
  const busy = { failure_text: 'busy', tries: 2, not_before: new Date() };
  await updateRow(ledger.db, id, 1, busy);
  await updateRow(ledger.db, id, 2, busy);
  // One try does not defer a company whose next try is near. The other companies wait for people.
  await updateRow(ledger.db, id, 3, { ...busy, tries: 1 });
  await updateRow(ledger.db, id, 4, { ...busy, confirmed_at: null });
  await updateRow(ledger.db, id, 5, { ...busy, confirmed_at: new Date() });
  await updateRow(ledger.db, id, 6, { ...busy, held_back: 'a problem' });
  const [overview] = await readOverviews(ledger.db, [id]);
  const { deferred } = await countCompanies(ledger.db, id);
  expect([overview?.counts.deferred, deferred]).toEqual([2, 2]);
});
