/** The opening and closing times of a window, by the database's clock. */
import { setTimeout as delay } from 'node:timers/promises';
import { claimCompanies } from '../../../store';
import { createMovableMigration, msFromNow, useLedger, manifestRows } from '../../support/migrations/ledger';

const ledger = useLedger();

/** More companies than can be claimed one at a time while the window is open. */
const COMPANIES = 2_000;
/** Maximum time in one statement between the check of the window and the value of `claimed_at`, in milliseconds. */
const ONE_STATEMENT_MS = 20;

test('claims companies only from the opening of a window until its closing', async () => {
  const { id, owner } = await createMovableMigration(ledger, manifestRows(COMPANIES));
  const edges = { window_opens_at: msFromNow(300), window_closes_at: msFromNow(1_800) };
  await ledger.db.updateTable('migrations').set(edges).where('id', '=', id).execute();
  const until = Date.now() + 2_100;
  while (Date.now() < until) {
    await claimCompanies(ledger.db, owner, 1, null);
    // Limits the rate, so that some companies are still unclaimed when the window closes.
    await delay(1);
  }

  const { opens, closes } = await ledger.db
    .selectFrom('migrations')
    .where('id', '=', id)
    .select(['window_opens_at as opens', 'window_closes_at as closes'])
    .executeTakeFirstOrThrow();
  const claimed = await ledger.db
    .selectFrom('companies')
    .where('migration_id', '=', id)
    .where('state', '=', 'importing')
    .select('claimed_at')
    .execute();
  const at = claimed.map(({ claimed_at: when }) => when?.getTime() ?? 0);
  expect(at.length).toBeGreaterThan(5);
  expect(at.length).toBeLessThan(COMPANIES);
  expect(Math.min(...at)).toBeGreaterThanOrEqual(opens?.getTime() ?? Infinity);
  expect(Math.max(...at)).toBeLessThan((closes?.getTime() ?? 0) + ONE_STATEMENT_MS);
});
