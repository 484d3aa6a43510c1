/**
 * The ramp: the first companies of a batch, which move before the other companies. While the migration is `ramp_only`,
 * only companies of the ramp can be claimed.
 *
 * The ramp ends when enough of its companies have a result. A straggler does not hold it up:
 * - A company that was deferred, or whose attempt was interrupted, is a straggler. The number of these stragglers is
 *   not limited, because the same company can be deferred again and again.
 * - Companies that are still syncing or being imported are stragglers if there are few of them: at most one in ten, or
 *   one in a ramp of two to nineteen (`allowedStragglers`).
 *
 * As long as the limits specify a ramp, it does not end before a company has got through, because nothing else shows
 * whether other companies can be moved. A company has got through if its credential was accepted, it has failed, or its
 * outcome is unknown.
 *
 * If the ramp is empty, or none of its companies can get through, it grows by the number of companies that the limits
 * specify. A company cannot get through if it was left out, is not ready, or was deferred or interrupted after at least
 * two tries.
 */
import { sql } from 'kysely';
import { allowedStragglers } from '../../domain/planning/pacing';
import { oneRow, updateMigration, type Database, type Queryable } from '../database/database';
import { isReadyToMove } from './claim';
import { IS_INTERRUPTED } from './lease';

interface Ramp {
  readonly companies: number;
  /** Companies that are ready to move and were not deferred by their latest try. */
  readonly untried: number;
  /** Companies that an attempt is importing, or that are syncing. */
  readonly moving: number;
  /** Companies that were deferred or whose attempt was interrupted. */
  readonly deferred: number;
  /** True if there are companies in `deferred`, and each has been tried at least twice. */
  readonly deferredTwice: boolean;
  /** Companies that have got through: their credential was accepted, they have failed, or their outcome is unknown. */
  readonly gotThrough: number;
}

async function countRamp(db: Queryable, migrationId: string): Promise<Ramp> {
  return oneRow<Ramp>(db)`
    with ramp as (
      select c.state, c.tries, coalesce(v.row is not null and ${isReadyToMove()}, false) as ready,
        c.failure_text is not null as was_deferred,
        c.state = 'importing' and ${IS_INTERRUPTED} as interrupted
      from companies c
      join migrations m on m.id = c.migration_id
      left join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and c.in_ramp
    )
    select count(*) as companies,
      count(*) filter (where ready and not was_deferred) as untried,
      count(*) filter (where state = 'syncing' or (state = 'importing' and not interrupted)) as moving,
      count(*) filter (where interrupted or (ready and was_deferred)) as deferred,
      coalesce(bool_and(tries >= 2) filter (where interrupted or (ready and was_deferred)), false) as "deferredTwice",
      count(*) filter (where state in ('syncing', 'moved', 'failed', 'outcome-unknown')) as "gotThrough"
    from ramp`;
}

function hasEnded({ companies, untried, moving, gotThrough }: Ramp): boolean {
  return untried === 0 && moving <= allowedStragglers(companies) && gotThrough > 0;
}

function needsMore({ untried, moving, deferred, deferredTwice, gotThrough }: Ramp): boolean {
  return untried + moving + gotThrough === 0 && (deferred === 0 || deferredTwice);
}

/** Chooses the ramp. Does nothing if there is one, so that a restarted run keeps its companies. */
export async function chooseRamp(db: Queryable, migrationId: string, companies: number): Promise<void> {
  const { companies: chosen } = await countRamp(db, migrationId);
  if (chosen === 0) await addToRamp(db, migrationId, companies);
}

async function addToRamp(db: Queryable, migrationId: string, companies: number): Promise<void> {
  await sql`
    update companies set in_ramp = true
    from (
      select c.row from companies c
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and ${isReadyToMove()} and not c.in_ramp
      order by c.wave nulls last, c.confirmed_at, c.row
      limit ${companies}
    ) first
    where companies.migration_id = ${migrationId} and companies.row = first.row`.execute(db);
}

/** Returns whether a run has chosen a ramp. */
export async function hasRamp(db: Queryable, migrationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from companies where migration_id = ${migrationId} and in_ramp limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns whether the ramp has begun and has not ended. */
export async function isRampInProgress(db: Database, migrationId: string): Promise<boolean> {
  const { rampOnly } = await selectRamp(db, migrationId).executeTakeFirstOrThrow();
  return rampOnly && !hasEnded(await countRamp(db, migrationId));
}

function selectRamp(db: Queryable, migrationId: string) {
  return db.selectFrom('migrations').select(['ramp_only as rampOnly', 'limits']).where('id', '=', migrationId);
}

/**
 * Ends the ramp if only stragglers are left in it, or if the limits no longer specify a ramp. Adds companies to the
 * ramp if none of its companies can get through.
 *
 * @returns the number of companies in the ramp; null if there is no ramp or it has ended
 */
export async function advanceRamp(db: Database, migrationId: string): Promise<number | null> {
  // Usually no ramp is in progress, and then no transaction is needed.
  if (!(await selectRamp(db, migrationId).executeTakeFirstOrThrow()).rampOnly) return null;
  return db.transaction().execute(async (tx) => {
    // Lock the migration, because two slices that end at the same time must not both add companies.
    const { rampOnly, limits } = await selectRamp(tx, migrationId).forNoKeyUpdate().executeTakeFirstOrThrow();
    if (!rampOnly) return null;
    const ramp = await countRamp(tx, migrationId);
    if (limits.rampCompanies === 0 || hasEnded(ramp)) {
      await updateMigration(tx, migrationId, { ramp_only: false });
      return null;
    }
    if (!needsMore(ramp)) return ramp.companies;
    await addToRamp(tx, migrationId, limits.rampCompanies);
    return (await countRamp(tx, migrationId)).companies;
  });
}
