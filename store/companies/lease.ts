/**
 * The lease: an attempt that imports a company owns the company's row for a limited time. This file tells who owns a
 * row, for how long, and what happens to it afterwards.
 *
 * An attempt can die, hang or lose its network at any moment, and the ledger cannot tell which. The lease keeps a
 * second attempt from sending the same credential until no request of the first one can still be in flight.
 *
 * Columns of `companies`: `attempt` names the owner (`run/slice/attempt`), `held_until` is the end of the lease by the
 * database's clock, `authorization_sent_at` is the send intent (send-intent.ts).
 *
 * ## Length
 *
 * `sendWithinMs` (no authorization leaves later than this after the claim) + `authorizationTimeoutMs` (the service has
 * answered it by then, or the client has given up) + `marginMs` (clocks that differ, slow machines). 135 s by default.
 *
 * ## States of a row that is `importing`
 *
 * - HELD: the claim has written the owner and `held_until`. Only the owner can record a send intent or an outcome.
 *   - the owner records an outcome -> the row has no owner any more;
 *   - the owner records that the outcome is unclear -> the row keeps owner and `held_until`, and becomes one of the
 *     next two;
 *   - a newer attempt of the slice, or another run, begins -> SUPERSEDED;
 *   - `held_until` passes -> EXPIRED.
 * - SUPERSEDED: the old attempt may still run without knowing it. Once the row was released or has another owner, it can
 *   record neither a send intent nor an outcome. A request that it sent before may still be in flight.
 * - EXPIRED: no request of the attempt is in flight any more.
 *
 * ## Ways out of SUPERSEDED and EXPIRED
 *
 * - Without a send intent, the credential was not sent: `releaseUnsent` puts the company back to `waiting`.
 * - With a send intent, the credential may have been used: `reclaimSent` gives the row to a new attempt, which reads
 *   the connection before it does anything else.
 *   - EXPIRED: the new owner gets a new lease, and decides what to do if the connection does not reveal the outcome.
 *   - SUPERSEDED: `held_until` stays, and the new owner only reads (`onItsWay`). It leaves a pending connection alone.
 *
 * Slices of the current run do both when they begin and then every second (activities/companies/slices.ts). When the
 * migration ends, `settleInterrupted` (activities/migration/closing.ts) resolves the rows that are still `importing`.
 */
import { sql } from 'kysely';
import type { Database } from '../database/database';

/** The attempt of a slice that owns rows. */
export interface LeaseOwner {
  readonly migrationId: string;
  /** The batch run, or the move of the first company: `current_run` of the migration. */
  readonly run: string;
  readonly slice: number;
  readonly attempt: number;
  /** Milliseconds from the claim to the end of the lease, see `leaseMs`. */
  readonly leaseMs: number;
}

/** Computes the length of a lease. All values are milliseconds. */
export function leaseMs(timing: {
  readonly sendWithinMs: number;
  readonly authorizationTimeoutMs: number;
  readonly marginMs: number;
}): number {
  return timing.sendWithinMs + timing.authorizationTimeoutMs + timing.marginMs;
}

/**
 * Begins an attempt of a slice, which supersedes every earlier attempt of that slice. The ledger numbers attempts
 * itself because Temporal counts from 1 again each time it schedules the slice.
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

/** Returns the name under which the ledger stores the owner of a row. */
export function leaseOwnerName({ run, slice, attempt }: LeaseOwner): string {
  return `${run}/${slice}/${attempt}`;
}

/** Assigns a company `c` to an owner, as one more try. */
export function assignTo(owner: LeaseOwner) {
  return sql`
    attempt = ${leaseOwnerName(owner)}, tries = c.tries + 1, failure_text = null, claimed_at = clock_timestamp()`;
}

/** The end of a lease that begins now. */
export function leaseEnd(owner: LeaseOwner) {
  return sql`clock_timestamp() + make_interval(secs => ${owner.leaseMs / 1000})`;
}

/** Company `c` of migration `m` is owned by no slice's newest attempt in the current run. */
export const SUPERSEDED = sql`not exists (
  select from slices current
  where current.migration_id = m.id and current.run = m.current_run
    and concat_ws('/', current.run, current.slice, current.attempt) = c.attempt)`;

const SUPERSEDED_OR_EXPIRED = sql`(c.held_until < clock_timestamp() or ${SUPERSEDED})`;

/** A company that an attempt owns. */
export interface ClaimedCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly expectedInvoices: number | null;
  /** 1 on the first try. */
  readonly tries: number;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  /** Which of these ids the client has named; null: neither, so an earlier try created what exists. */
  readonly named: 'company' | 'connection' | null;
  readonly sealed: Buffer;
  /** The service has accepted this credential before: it must not be sent again. */
  readonly crossed: boolean;
  /** The credential replaces an older one, which the service may have accepted. */
  readonly supersedes: boolean;
  /**
   * The send intent of an earlier attempt; null after a claim. Complaints that are older concern another credential.
   */
  readonly sentAt: Date | null;
  /** The credential that an earlier attempt sent may still be in flight. */
  readonly onItsWay: boolean;
}

/** The columns of a claimed company `c`; the common table expression `picked` adds what is known of its credential. */
export const CLAIMED_COLUMNS = sql`
  c.row, c.reference, c.name, c.organization, c.expected_invoices as "expectedInvoices", c.tries,
  c.company_id as "companyId", c.connection_id as "connectionId", c.named, picked.sealed, picked.crossed, picked.supersedes,
  c.authorization_sent_at as "sentAt", picked.on_its_way as "onItsWay"`;

/**
 * Puts companies whose attempt died before it recorded a send intent back to `waiting`.
 *
 * @returns the number of companies
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

/** Gives at most `size` companies whose attempt died after it recorded a send intent to a new owner. */
export async function reclaimSent(db: Database, owner: LeaseOwner, size: number): Promise<readonly ClaimedCompany[]> {
  const { rows } = await sql<ClaimedCompany>`
    with picked as (
      select c.migration_id, c.row, v.sealed, v.supersedes, v.crossed_at is not null as crossed,
        c.held_until >= clock_timestamp() as on_its_way
      from companies c
      join migrations m on m.id = c.migration_id
      join slices s on s.migration_id = m.id and s.run = m.current_run
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${owner.migrationId}
        and c.state = 'importing' and c.authorization_sent_at is not null and ${SUPERSEDED_OR_EXPIRED}
        and m.state = 'open' and m.current_run = ${owner.run}
        and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
      order by c.claimed_at
      limit ${size}
      for update of c skip locked
      for share of m, s
    )
    update companies c
    set ${assignTo(owner)}, held_until = case when on_its_way then c.held_until else ${leaseEnd(owner)} end
    from picked
    where c.migration_id = picked.migration_id and c.row = picked.row
    returning ${CLAIMED_COLUMNS}`.execute(db);
  return rows;
}
