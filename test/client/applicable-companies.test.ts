/** The companies to which a decision does not apply. */
import { findInapplicable, findRetryUseless } from '../../client';
import { NOT_CHECKED } from '../../domain/companies/company-state';
import { chooseFirstCompany } from '../../store';
import { createMovableMigration, manifestRows, release, updateRow, useLedger } from '../support/migrations/ledger';

const ledger = useLedger();

const MUST_RECONNECT = {
  ...({ state: 'failed', failure: 'reauthorization-required' } as const),
  ...{ crossed_at: new Date(), link_url: 'https://link.example/1' },
};

test('a retry does not apply to companies that must reconnect, and names all of them', async () => {
  const { db } = ledger;
  const { id } = await createMovableMigration(ledger, manifestRows(8));
  for (let row = 1; row <= 8; row += 1) await updateRow(db, id, row, MUST_RECONNECT);
  expect(await findRetryUseless(db, id)).toHaveLength(8);
  expect((await findInapplicable(db, id, 'retry', ['c1'])).wrongState).toEqual(['c1 (must reconnect)']);
});

test('a retry applies to the first company of step 5, because only another try finds out whether it reconnected', async () => {
  const { db } = ledger;
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await release(db, id, 'first-company');
  await chooseFirstCompany(db, id, 'first');
  await updateRow(db, id, 1, MUST_RECONNECT);
  expect(await findRetryUseless(db, id)).toEqual([]);
  expect((await findInapplicable(db, id, 'retry', ['c1'])).wrongState).toEqual([]);
});

test('a company whose row is not checked yet can be left out', async () => {
  const { db } = ledger;
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  await updateRow(db, id, 1, { held_back: NOT_CHECKED });
  expect((await findInapplicable(db, id, 'exclude', ['c1'])).wrongState).toEqual([]);
  expect((await findInapplicable(db, id, 'skip', ['c1'])).wrongState).toEqual(['c1 (not moved yet)']);
});
