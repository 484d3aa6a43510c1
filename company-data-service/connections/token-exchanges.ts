/**
 * Token exchanges: refreshes that have begun, but whose new tokens are not stored yet. Their refresh tokens might be
 * used up.
 *
 * An exchange is committed before the platform is called, and is deleted in the transaction that stores the new tokens.
 * If the service is killed in between, the new tokens are lost, and the exchange remains. The next authorization with
 * the same body continues it: the platform gets the same exchange id, so that it can recognize the repetition.
 */
import { sql } from 'kysely';
import type { Database } from '../database/database';

/** No platform accepts a repetition after this time. Shopify accepts repetitions for the longest time: 30 days. */
const RETENTION = sql`interval '30 days'`;

/**
 * Begins an exchange, or continues the exchange that began with the same body. Returns its id.
 *
 * @param db not the transaction of the authorization, because the exchange must be committed before the platform is
 * called
 */
export async function beginExchange(
  db: Database,
  { connectionId, bodyDigest }: { connectionId: string; bodyDigest: Buffer },
): Promise<string> {
  const { id } = await db
    .insertInto('token_exchanges')
    .values({ connection_id: connectionId, body_digest: bodyDigest })
    // Changes nothing, but returns the existing row.
    .onConflict((conflict) =>
      conflict.columns(['connection_id', 'body_digest']).doUpdateSet({ connection_id: connectionId }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Ends all exchanges of a connection. Call it in the transaction that stores the connection's new tokens. */
export async function endExchanges(transaction: Database, connectionId: string): Promise<void> {
  await transaction.deleteFrom('token_exchanges').where('connection_id', '=', connectionId).execute();
}

/** Deletes exchanges that are too old for any platform to continue. */
export async function deleteOldExchanges(db: Database): Promise<void> {
  await sql`delete from token_exchanges where begun_at < clock_timestamp() - ${RETENTION}`.execute(db);
}
