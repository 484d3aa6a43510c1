/**
 * The send intent: the ledger's record that a credential is about to be sent. It keeps a single-use token from being
 * used twice.
 *
 * After a crash, only the ledger shows whether a credential might have been sent. An attempt therefore writes
 * `authorization_sent_at`, and waits for the commit before it sends the credential. Each authorization takes
 * these steps, in this order (see company-data-client/caller.ts):
 *
 * 1. The HTTP client waits until the rate limiter lets the request through.
 * 2. It calls `recordSendIntent`. The statement matches only a row that is `importing` and owned by this attempt. If
 *    the row does not match, the attempt has lost its lease (lease.ts): `LeaseLost` is thrown, and nothing is sent.
 * 3. It checks the deadline (`sendBefore`), on which the length of the lease depends.
 * 4. It sends the credential.
 *
 * When an attempt ends without an outcome, the next attempt can rely on the send intent:
 *
 * - No send intent: the credential was not sent. The company returns to `waiting`, and is claimed like any other.
 * - A send intent: the credential might have been sent. The next attempt reads the connection first. A linked
 *   connection or an error from the platform shows the outcome. If the connection shows neither, the company stays
 *   `importing` until no request can be in flight. Then a new attempt sends the same token to the same connection
 *   again. The service answers a body that it has already accepted without using the token. If this answer is lost as
 *   well, this is repeated. After {@link MAX_AUTHORIZATIONS} authorizations, a company with a single-use token becomes
 *   `outcome-unknown`, and a person decides.
 *
 * A send intent whose credential was not sent costs one additional read of the connection. The next claim moves the
 * send intent to `earlier_sent_at`, so that the credential is never sent to another connection. An outcome that returns
 * the company to `waiting` clears the send intent, because the credential was certainly not used (outcomes.ts).
 */
import DataLoader from 'dataloader';
import { sql } from 'kysely';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';
import type { LeaseOwner } from './lease';
import { leaseOwnerName } from './lease';

/**
 * The maximum number of times that a single-use token is sent to its connection, each time after a lease. Each
 * authorization that the service has accepted shows its outcome, so more of them do no harm; but a service that fails
 * each time needs a person.
 */
export const MAX_AUTHORIZATIONS = 5;

/** Records the send intent of a row. Rejects with `LeaseLost` if the credential must not be sent. */
export type RecordSendIntent = (row: number) => Promise<void>;

/** Thrown when this attempt no longer owns the row. Another attempt records the outcome; this attempt sends nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(row: number) {
    super(`this attempt no longer owns the company in row ${row}`);
  }
}

/**
 * Creates a function that records the send intent of one row per call. Calls that arrive while a statement is running
 * share the next statement.
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
 * Records the send intents of several rows.
 *
 * @returns the rows that this attempt still owns; the credentials of the other rows must not be sent
 */
export async function recordSendIntents(
  db: Database,
  owner: LeaseOwner,
  rows: readonly number[],
): Promise<ReadonlySet<number>> {
  const recorded = await db
    .updateTable('companies as c')
    .set({
      authorization_sent_at: sql<Date>`clock_timestamp()`,
      // Only a reclaimed row already has a send intent, because the claim clears it.
      authorization_sent_again: sql<boolean>`authorization_sent_at is not null`,
      authorizations_sent: sql<number>`authorizations_sent + 1`,
    })
    .where('migration_id', '=', owner.migrationId)
    .where(inRows(rows))
    .where(inState('importing'))
    .where('attempt', '=', leaseOwnerName(owner))
    .returning('row')
    .execute();
  return new Set(recorded.map(({ row }) => row));
}
