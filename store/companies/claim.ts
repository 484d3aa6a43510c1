/**
 * The claim: the only way of a company to `importing`.
 *
 * One conditional statement fences zombie attempts, cancellation, pauses, window edges, two runs and token families. It
 * locks the migration's, the slice's and the credential's row for reading, so that a pause, a close, a newer attempt or a
 * newer credential that commits first is seen, and one that commits later waits until the claim is written.
 */
import { sql } from 'kysely';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';
import { violates } from '../database/database';
import { isClaimable, WINDOW_IS_OPEN } from './claimable';

/** Which attempt of which slice of which run asks. */
export interface LeaseOwner {
  readonly migrationId: string;
  /** The batch run, or the move of the first company: `current_run` of the migration. */
  readonly run: string;
  readonly slice: number;
  readonly attempt: number;
  /** So long after a claim every call of this attempt has ended: nothing it has sent is on its way any more. Milliseconds. */
  readonly leaseMs: number;
}

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
  /** What of these the client has named; null: nothing, it was created by an earlier try, if it was. */
  readonly named: 'company' | 'connection' | null;
  readonly sealed: Buffer;
  /** The service has accepted this credential before: it is not to be used again. */
  readonly crossed: boolean;
  /** It has replaced an older one, which the service may have accepted. */
  readonly supersedes: boolean;
  /** Of a company that was taken over: when an attempt before sent the credential. Errors that are older are not its own. */
  readonly sentAt: Date | null;
  /** It may still be on its way to the service. */
  readonly onItsWay: boolean;
}

/** What is known of a company `c` that was `picked`. */
export const CLAIMED = sql`
  c.row, c.reference, c.name, c.organization, c.expected_invoices as "expectedInvoices", c.tries,
  c.company_id as "companyId", c.connection_id as "connectionId", c.named, picked.sealed, picked.crossed, picked.supersedes,
  c.authorization_sent_at as "sentAt", picked.on_its_way as "onItsWay"`;

/**
 * Begins an attempt of a slice: every earlier attempt of it can claim nothing from now on. The ledger numbers them, not
 * Temporal, which counts from 1 again each time the slice is scheduled.
 */
export async function beginSlice(
  db: Database,
  { migrationId, run, slice, leaseMs }: Omit<LeaseOwner, 'attempt'>,
): Promise<LeaseOwner> {
  const { attempt } = await db
    .insertInto('slices')
    .values({ migration_id: migrationId, run, slice, attempt: 1 })
    .onConflict((conflict) =>
      conflict.columns(['migration_id', 'run', 'slice']).doUpdateSet({ attempt: sql<number>`slices.attempt + 1` }),
    )
    .returning('attempt')
    .executeTakeFirstOrThrow();
  return { migrationId, run, slice, attempt, leaseMs };
}

/** Claims at most `size` companies; none: nothing can be claimed now. `onlyRow` narrows it to one company. */
export async function claimCompanies(
  db: Database,
  owner: LeaseOwner,
  size: number,
  onlyRow: number | null,
): Promise<readonly ClaimedCompany[]> {
  try {
    const { rows } = await sql<ClaimedCompany>`
      with claimable as (
        select c.migration_id, c.row, v.sealed, v.supersedes, v.crossed_at is not null as crossed,
          false as on_its_way
        from companies c
        join migrations m on m.id = c.migration_id
        join slices s on s.migration_id = m.id and s.run = m.current_run
        join credentials v on v.migration_id = c.migration_id and v.row = c.row
        where c.migration_id = ${owner.migrationId}
          and (${onlyRow}::integer is null or c.row = ${onlyRow})
          and ${canBeClaimed('c', 'v')}
          and (c.family is null or not exists (
            select from companies relative
            join credentials its on its.migration_id = relative.migration_id and its.row = relative.row
            where relative.migration_id = c.migration_id and relative.family = c.family
              and (relative.state = 'importing' or (${canBeClaimed('relative', 'its')}
                and (relative.confirmed_at, relative.row) < (c.confirmed_at, c.row)
                and (${onlyRow}::integer is null or relative.row = ${onlyRow})))))
          and m.state = 'open' and not m.paused
          and m.current_run = ${owner.run}
          and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
          and ${WINDOW_IS_OPEN}
        -- The order of an index: a claim looks at no more companies than it takes, however many there are.
        order by c.wave nulls last, c.confirmed_at, c.row
        limit ${size}
        for update of c skip locked
        for share of m, s, v
      )
      update companies c
      set state = 'importing', ${taken(owner)}, held_until = ${leaseEnd(owner)}, authorization_sent_at = null
      from claimable picked
      where c.migration_id = picked.migration_id and c.row = picked.row
      returning ${CLAIMED}`.execute(db);
    return rows;
  } catch (error) {
    // Two claims met in one family: the other one has it, and the next claim will see that.
    if (violates(error, 'one_importing_per_family')) return [];
    throw error;
  }
}

/** Of a company and its credential, as they are when they are locked: they may have been corrected meanwhile. */
function canBeClaimed(company: 'c' | 'relative', credential: 'v' | 'its') {
  const c = sql.ref(company);
  return sql`
    ${isClaimable(company, credential)}
    and (${c}.not_before is null or ${c}.not_before <= clock_timestamp())
    and (not m.ramp_only or ${c}.in_ramp)`;
}

/**
 * Notes that credentials are about to leave. Whoever finds a company without such a note knows that its credential was not
 * used.
 *
 * @returns the rows whose company is still this attempt's: of the others nothing may be sent
 */
export async function recordSendIntent(
  db: Database,
  owner: LeaseOwner,
  rows: readonly number[],
): Promise<ReadonlySet<number>> {
  const noted = await db
    .updateTable('companies as c')
    .set({ authorization_sent_at: sql<Date>`clock_timestamp()` })
    .where('migration_id', '=', owner.migrationId)
    .where(inRows(rows))
    .where(inState('importing'))
    .where('attempt', '=', leaseOwnerName(owner))
    .returning('row')
    .execute();
  return new Set(noted.map(({ row }) => row));
}

/** How a company becomes this attempt's. */
export function taken(owner: LeaseOwner) {
  return sql`
    attempt = ${leaseOwnerName(owner)}, tries = c.tries + 1, failure_text = null, claimed_at = clock_timestamp()`;
}

export function leaseEnd({ leaseMs }: LeaseOwner) {
  return sql`clock_timestamp() + make_interval(secs => ${leaseMs / 1000})`;
}

/** What the ledger calls the holder of a row. */
export function leaseOwnerName({ run, slice, attempt }: LeaseOwner): string {
  return `${run}/${slice}/${attempt}`;
}
