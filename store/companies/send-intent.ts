/**
 * The send intent: the ledger's record that a credential is about to be sent. It prevents a single-use token from being
 * used twice.
 *
 * After a crash, only the ledger shows whether a credential might have been sent. An attempt therefore writes
 * `authorization_sent_at`, and waits for the commit before it sends the credential. Each authorization takes these
 * steps, in this order (see company-data-client/caller.ts):
 *
 * 1. The HTTP client waits until the rate limiter lets the request through.
 * 2. It calls `recordSendIntent`, which `createSendIntentRecorder` creates. The statement matches only a row that is
 *    `importing` and owned by this attempt. If the row does not match, the attempt has lost its lease (lease.ts):
 *    `LeaseLost` is thrown, and nothing is sent.
 * 3. It checks the deadline (`sendBefore`), on which the length of the lease depends.
 * 4. It sends the credential.
 *
 * When an attempt ends without an outcome, the next attempt can rely on the send intent:
 *
 * - No send intent: the credential was not sent. The company returns to `waiting`, and can be claimed again.
 * - A send intent: the credential might have been sent. The next attempt reads the connection first. A linked
 *   connection or an error from the platform shows the outcome. If the connection shows neither, the company stays
 *   `importing` until no request can be in flight. Then a new attempt sends the same token to the same connection
 *   again. If the service has already accepted this token, it answers without using the token again. If this answer is
 *   lost as well, the token is sent again in the same way. After {@link MAX_AUTHORIZATIONS} authorizations, a company
 *   with a single-use token becomes `outcome-unknown`, and a person decides.
 *
 * If an attempt dies between the send intent and the request, the company is only delayed: the next attempts read the
 * connection, and send the credential once the lease has ended.
 *
 * An outcome that returns the company to `waiting` clears the send intent, because the credential was certainly not
 * used (outcomes.ts). If a company with a send intent is claimed again later, the claim moves the send intent to
 * `earlier_sent_at`, so that the credential is never sent to another connection.
 *
 * The send intent also records the id of the connection, because a company can have several connections to a platform.
 */
import DataLoader from 'dataloader';
import { sql } from 'kysely';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';
import { leaseOwnerName, type LeaseOwner } from './lease';

/**
 * The maximum number of times that a single-use token is sent to its connection. Each repetition waits until the
 * previous lease has ended. A repetition is harmless, because the service never uses an accepted token again. But if
 * every answer is lost, a person must decide.
 */
export const MAX_AUTHORIZATIONS = 5;

/** A row whose credential is about to be sent, and the connection to which it will be sent. */
export interface SendIntent {
  readonly row: number;
  readonly connectionId: string;
}

/** Records a send intent. Rejects with `LeaseLost` if the credential must not be sent. */
export type RecordSendIntent = (intent: SendIntent) => Promise<void>;

/** Thrown when this attempt no longer owns the row. Another attempt records the outcome; this attempt sends nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(row: number) {
    super(`this attempt no longer owns the company in row ${row}`);
  }
}

/**
 * Creates a function that records the send intent of one row per call. Several calls share a statement if they arrive
 * in the same turn of the event loop, or while a statement is running. This is useful because the responses for many
 * companies can arrive in one turn.
 */
export function createSendIntentRecorder(db: Database, owner: LeaseOwner): RecordSendIntent {
  let lastStatement: Promise<unknown> = Promise.resolve();
  const batchScheduleFn = (execute: () => void): void => {
    const inNextTurn = (): void => void setImmediate(execute);
    void lastStatement.then(inNextTurn, inNextTurn);
  };
  const statements = new DataLoader<SendIntent, boolean>(
    (intents) => {
      const recorded = recordSendIntents(db, owner, intents);
      lastStatement = recorded;
      return recorded.then((owned) => intents.map(({ row }) => owned.has(row)));
    },
    { cache: false, batchScheduleFn },
  );
  return async (intent) => {
    if (!(await statements.load(intent))) throw new LeaseLost(intent.row);
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
  intents: readonly SendIntent[],
): Promise<ReadonlySet<number>> {
  const connections = intents.map(({ row, connectionId }) => ({ row, connection_id: connectionId }));
  const { rows } = await sql<{ row: number }>`
    update companies c
    set connection_id = i.connection_id, authorization_sent_at = clock_timestamp(),
      authorization_sent_again = ${SENT_BY_EARLIER_ATTEMPT},
      authorizations_sent = c.authorizations_sent + (c.authorization_sent_at is null or ${SENT_BY_EARLIER_ATTEMPT})::integer
    from jsonb_to_recordset(${JSON.stringify(connections)}::jsonb) as i (row integer, connection_id uuid)
    where c.migration_id = ${owner.migrationId} and ${inRows(intents.map(({ row }) => row))} and c.row = i.row
      and ${inState('importing')} and c.attempt = ${leaseOwnerName(owner)}
    returning c.row`.execute(db);
  return new Set(rows.map(({ row }) => row));
}

/**
 * The condition that the send intent of company `c` is not from the company's current owner. The owner itself can
 * record its intent again: before it repeats a request that had no effect, such as a request that was refused with 429.
 */
const SENT_BY_EARLIER_ATTEMPT = sql`coalesce(c.authorization_sent_at < c.claimed_at, false)`;
