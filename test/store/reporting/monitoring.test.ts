/** The ledger's figures for monitoring. */
import { readLedgerFigures } from '../../../store';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

test('a credential of a company that was left out or has failed does not count as unused', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  expect((await readLedgerFigures(ledger.db)).oldestCredentialSeconds).toBeGreaterThan(0);
  await updateRow(ledger.db, id, 1, { state: 'excluded' });
  await updateRow(ledger.db, id, 2, { state: 'skipped' });
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'reauthorization-required' });
  expect((await readLedgerFigures(ledger.db)).oldestCredentialSeconds).toBeNull();
});
