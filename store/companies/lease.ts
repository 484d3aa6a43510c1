/**
 * The lease: an attempt that imports a company owns the company's row for a limited time.
 *
 * An attempt can die, hang or lose its network at any moment, and the ledger cannot distinguish these cases. The lease
 * prevents a second attempt from sending the same credential until no request of the first attempt can be in flight.
 *
 * Columns of `companies`: `attempt` names the owner (`run/slice/attempt`), `lease_ends_at` is the end of the lease by
 * the database's clock, `authorization_sent_at` is the send intent (send-intent.ts).
 *
 * ## Length
 *
 * The sum of three times, 135 s by default:
 *
 * - `sendWithinMs`: no authorization is sent later than this after the claim;
 * - `authorizationTimeoutMs`: the HTTP client waits this long for the service's response;
 * - `marginMs`: for clocks that differ and for slow machines.
 *
 * ## States of a row that is `importing`
 *
 * - HELD: the claim has written the owner and `lease_ends_at`. Only the owner can record a send intent or an outcome.
 *   - The owner records an outcome: the company leaves `importing`, and the row no longer has an owner.
 *   - The owner records that the outcome is unclear: the row keeps its owner and `lease_ends_at`. Later, the row
 *     becomes SUPERSEDED or EXPIRED.
 *   - A newer attempt of the slice, or another run, begins: the row becomes SUPERSEDED.
 *   - `lease_ends_at` passes: the row becomes EXPIRED.
 * - SUPERSEDED: the old attempt might still be running, and does not know that it was superseded. After the row has
 *   been released or reclaimed, the old attempt can record neither a send intent nor an outcome. A request that it has
 *   already sent might still be in flight.
 * - EXPIRED: no request of the attempt can still be in flight.
 *
 * ## Ways out of SUPERSEDED and EXPIRED
 *
 * - Without a send intent, the credential was not sent: `releaseUnsent` sets the company to `waiting`.
 * - With a send intent, the credential might have been used: `reclaimSent` gives the row to a new attempt, which reads
 *   the connection before it does anything else.
 *   - EXPIRED: the new owner gets a new lease. If the connection does not show the outcome, the new owner decides
 *     whether to send the credential again.
 *   - SUPERSEDED: `lease_ends_at` does not change, and the new owner only reads (`isInFlight`). If the connection is
 *     still pending, the new owner sends nothing, and the company stays `importing`.
 *
 * Slices of the current run release and reclaim rows when they begin and then every second
 * (activities/companies/import-slice.ts). At the end of the migration, `resolveInterrupted`
 * (store/migrations/closing.ts) resolves the rows that are still `importing`: only after claims have been stopped, and
 * only EXPIRED rows.
 */
import { sql } from 'kysely';
import { allRows, type Database } from '../database/database';
import { markOf } from '../migrations/ledger-mark';

/** The attempt of a slice that owns rows. */
export interface LeaseOwner {
  readonly migrationId: string;
  /** Id of the batch run or of the first company's move: the migration's `current_run` until another run begins. */
  readonly run: string;
  readonly slice: number;
  readonly attempt: number;
  /** Milliseconds from the claim to the end of the lease, see `leaseMs`. */
  readonly leaseMs: number;
}

/** Computes the length of a lease in milliseconds. */
export function leaseMs(timing: {
  readonly sendWithinMs: number;
  readonly authorizationTimeoutMs: number;
  readonly marginMs: number;
}): number {
  return timing.sendWithinMs + timing.authorizationTimeoutMs + timing.marginMs;
}

/**
 * Begins an attempt of a slice, which supersedes every earlier attempt of that slice. The ledger numbers the attempts,
 * because Temporal's numbers start from 1 again each time the slice is scheduled.
 */
export async function beginSlice(
  db: Database,
  { migrationId, run, slice, leaseMs: lengthMs }: Omit<LeaseOwner, 'attempt'>,
): Promise<LeaseOwner> {
  const { attempt } = await db
    .insertInto('slices')
    .values({ migration_id: migrationId, run, slice, attempt: 1 })
    .onConflict((conflict) =>
      conflict.columns(['migration_id', 'run', 'slice']).doUpdateSet({ attempt: sql<number>`slices.attempt + 1` }),
    )
    .returning('attempt')
    .executeTakeFirstOrThrow();
  return { migrationId, run, slice, attempt, leaseMs: lengthMs };
}

/** Returns the value of the column `attempt` for this owner. */
export function leaseOwnerName({ run, slice, attempt }: LeaseOwner): string {
  return `${run}/${slice}/${attempt}`;
}

/** Builds the assignments that give company `c` to an owner and count one more try. */
export function assignTo(owner: LeaseOwner) {
  return sql`
    attempt = ${leaseOwnerName(owner)}, tries = c.tries + 1, failure_text = null, claimed_at = clock_timestamp(),
    first_claimed_at = coalesce(c.first_claimed_at, c.claimed_at, clock_timestamp())`;
}

/** Builds the SQL for the end of a lease that begins now. */
export function leaseEnd(owner: LeaseOwner) {
  return sql`clock_timestamp() + make_interval(secs => ${owner.leaseMs / 1000})`;
}

/** The condition that the owner of company `c` is not the newest attempt of a slice in migration `m`'s current run. */
export const SUPERSEDED = sql`not exists (
  select from slices current
  where current.migration_id = m.id and current.run = m.current_run
    and concat_ws('/', current.run, current.slice, current.attempt) = c.attempt)`;

/** The condition that the attempt of `c` does not know the outcome or was superseded, or its lease has expired. */
export const IS_INTERRUPTED = sql`(
  c.failure_text is not null or c.lease_ends_at < clock_timestamp() or ${SUPERSEDED})`;

const SUPERSEDED_OR_EXPIRED = sql`(c.lease_ends_at < clock_timestamp() or ${SUPERSEDED})`;

/** A company that an attempt owns. */
export interface ClaimedCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly expectedInvoices: number | null;
  /** Number of tries, including this one. */
  readonly tries: number;
  /** The number of these tries that only read the connection, because the credential might have been in flight. */
  readonly triesInFlight: number;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  /** The kind of ids that the client supplied. Null if it supplied none; any ids above are then from an earlier try. */
  readonly suppliedIds: 'company' | 'connection' | null;
  readonly sealed: Buffer;
  /** When the client's application obtained the credential. */
  readonly obtainedAt: Date;
  /** True if this credential counts as handed over to the service, so that it must not be sent again. */
  readonly crossed: boolean;
  /** True if the credential replaces an older credential, which the service might have accepted. */
  readonly supersedes: boolean;
  /**
   * Time of an earlier attempt's send intent; null after a claim. If the connection has an error from before this time,
   * the error concerns another credential.
   */
  readonly sentAt: Date | null;
  /**
   * True if an earlier attempt might have sent this credential, even if the company has been claimed again since. The
   * credential is then not sent to another connection.
   */
  readonly wasSent: boolean;
  /** Number of earlier attempts that recorded a send intent since the claim. 0 after a claim. */
  readonly timesSent: number;
  /** True if a request with which an earlier attempt sent the credential might still be in flight. */
  readonly isInFlight: boolean;
  /** The ledger's mark after the claim. */
  readonly ledgerMark: number;
}

/** The columns of a claimed company `c`. The table `picked` supplies the columns of its credential. */
export const CLAIMED_COLUMNS = sql`
  c.row, c.reference, c.name, c.organization, c.expected_invoices as "expectedInvoices", c.tries, c.tries_in_flight as "triesInFlight",
  c.company_id as "companyId", c.connection_id as "connectionId", c.named as "suppliedIds", picked.sealed, picked.obtained_at as "obtainedAt", picked.crossed, picked.supersedes,
  c.authorization_sent_at as "sentAt", picked.was_sent as "wasSent", c.authorizations_sent as "timesSent", picked.in_flight as "isInFlight",
  picked.ledger_mark as "ledgerMark"`;

/**
 * Releases companies whose attempt died or was superseded before it recorded a send intent: sets them to `waiting`.
 *
 * @returns the number of released companies
 */
export async function releaseUnsent(db: Database, { migrationId, run }: LeaseOwner): Promise<number> {
  const { rows } = await sql`
    with picked as (
      select c.migration_id, c.row
      from companies c
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and m.current_run = ${run}
        and c.state = 'importing' and c.authorization_sent_at is null and ${SUPERSEDED_OR_EXPIRED}
      for update of c skip locked
    )
    update companies c
    set state = 'waiting', attempt = null, failure_text = null
    from picked
    where c.migration_id = picked.migration_id and c.row = picked.row
    returning c.row`.execute(db);
  return rows.length;
}

/** Reclaims at most `size` companies whose attempt died or was superseded after it recorded a send intent. */
export async function reclaimSent(db: Database, owner: LeaseOwner, size: number): Promise<readonly ClaimedCompany[]> {
  return allRows<ClaimedCompany>(db)`
    with picked as (
      select c.migration_id, c.row, v.sealed, v.obtained_at, v.supersedes, v.crossed_at is not null as crossed,
        true as was_sent, c.lease_ends_at >= clock_timestamp() as in_flight, ${markOf(owner.migrationId)} as ledger_mark
      from companies c
      join migrations m on m.id = c.migration_id
      join slices s on s.migration_id = m.id and s.run = m.current_run
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${owner.migrationId}
        and c.state = 'importing' and c.authorization_sent_at is not null and ${SUPERSEDED_OR_EXPIRED}
        and m.state = 'open' and m.behind_since is null and m.current_run = ${owner.run}
        and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
      order by c.claimed_at
      limit ${size}
      for update of c skip locked
      for share of m, s
    )
    update companies c
    set ${assignTo(owner)}, lease_ends_at = case when in_flight then c.lease_ends_at else ${leaseEnd(owner)} end,
      tries_in_flight = c.tries_in_flight + in_flight::integer
    from picked
    where c.migration_id = picked.migration_id and c.row = picked.row
    returning ${CLAIMED_COLUMNS}`;
}
