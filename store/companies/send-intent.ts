/**
 * The send intent: the ledger's record that a credential is about to leave. It keeps a single-use token from being sent twice.
 *
 * After a crash only the ledger can tell whether a credential was sent, so an attempt writes `authorization_sent_at`
 * and waits for the commit before it sends. For each authorization, in this order (`sendInTurn`,
 * company-data-client/caller.ts):
 *
 * 1. The HTTP client waits until the rate limiter lets the request through.
 * 2. It calls `recordSendIntent`. The statement matches only a row that is `importing` and owned by this attempt.
 *    Otherwise another attempt owns the row (lease.ts): `LeaseLost` is thrown, and nothing is sent.
 * 3. It checks the deadline (`sendBefore`). The length of the lease relies on it.
 * 4. It sends the credential.
 *
 * When an attempt ends without an outcome, the next one can rely on this:
 *
 * - No intent: the credential was not sent. The company goes back to `waiting`, and is claimed like any other.
 * - An intent: the credential may have been sent. The next attempt reads the connection first. A linked connection or a
 *   complaint of the platform tells the outcome. If the connection tells nothing, the attempt waits until no request
 *   can be in flight any more; then it resends a reusable token, and leaves a single-use token to
 *   support (`outcome-unknown`).
 *
 * An intent without a request costs one extra read of the connection. The next claim clears it, and so does an outcome that
 * puts the company back to `waiting`, because then the credential was certainly not used (outcomes.ts).
 */
import DataLoader from 'dataloader';
import { sql } from 'kysely';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';
import type { LeaseOwner } from './lease';
import { leaseOwnerName } from './lease';

/** Records that the credential of a row is about to be sent. Rejects with `LeaseLost` when it must not be sent. */
export type RecordSendIntent = (row: number) => Promise<void>;

/** Thrown when another attempt owns the row: nothing is sent, and that attempt records the outcome. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(row: number) {
    super(`another attempt has taken over the company in row ${row}`);
  }
}

/**
 * Returns a function that records intents one row at a time; rows that arrive during a statement share the next one.
 */
export function createSendIntents(db: Database, owner: LeaseOwner): RecordSendIntent {
  let lastStatement: Promise<unknown> = Promise.resolve();
  const intents = new DataLoader<number, boolean>(
    (rows) => {
      const recorded = recordSendIntents(db, owner, rows);
      lastStatement = recorded;
      return recorded.then((owned) => rows.map((row) => owned.has(row)));
    },
    { cache: false, batchScheduleFn: (execute) => void lastStatement.then(execute, execute) },
  );
  return async (row) => {
    if (!(await intents.load(row))) throw new LeaseLost(row);
  };
}

/**
 * Records send intents for several rows.
 *
 * @returns the rows that this attempt still owns; nothing may be sent for the others
 */
export async function recordSendIntents(
  db: Database,
  owner: LeaseOwner,
  rows: readonly number[],
): Promise<ReadonlySet<number>> {
  const recorded = await db
    .updateTable('companies as c')
    .set({ authorization_sent_at: sql<Date>`clock_timestamp()` })
    .where('migration_id', '=', owner.migrationId)
    .where(inRows(rows))
    .where(inState('importing'))
    .where('attempt', '=', leaseOwnerName(owner))
    .returning('row')
    .execute();
  return new Set(recorded.map(({ row }) => row));
}
