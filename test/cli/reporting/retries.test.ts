/** Tests how retried work is described. */
import { retryTexts } from '../../../cli/reporting/retries';
import type { MigrationClient } from '../../../client';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();
const ID = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';
const UNKNOWN = '0e5a3a5c-3a3f-4c5f-9a55-000000000000';

test('a retried call is described with its company, its reason and the next attempt', async () => {
  const { db } = ledger;
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(db, id, 2, { company_id: ID });
  const at = '2030-01-06T21:00:00.000Z';
  const retries = [
    { error: `GET /companies/${ID}/connections: answered 503 Maintenance`, nextAttempt: at },
    { error: `GET /companies/${UNKNOWN}/connections: answered 503 Maintenance`, nextAttempt: 'running' },
    { error: 'a worker stopped responding', nextAttempt: null },
  ];
  const texts = await retryTexts({ db } as MigrationClient, id, retries, (iso) => `<${iso}>`);
  expect(texts).toEqual([
    `could not list the connections of c2: the service answered 503: Maintenance; next attempt at <${at}>`,
    'could not list the connections of a company: the service answered 503: Maintenance; the next attempt is running',
    'a worker stopped responding',
  ]);
});
