/**
 * The first company. While only the first company is released, the claim accepts only the row in `first_row`.
 *
 * A decision can request a company. It sets `requested_first` and clears `first_row`, and the next choice sets
 * `first_row` again. Once the chosen company has begun to move, only another decision can change the choice. Otherwise,
 * several companies could be moved one after another as the first company.
 */
import { sql } from 'kysely';
import type { Companies } from '../../domain/migration/decision';
import type { FirstCompany } from '../../domain/migration/migration-state';
import { updateMigration, type Database, type Queryable } from '../database/database';
import { lockDecisions } from '../migrations/audit-trail';
import { endOutage } from '../migrations/stoppages';
import { isReadyToMove } from './claim';

export interface ChosenCompany {
  readonly row: number;
  readonly reference: string;
}

/**
 * Chooses the first company, and makes `run` the only run that can claim it. If the move of the company chosen earlier
 * has begun, chooses that company again. Otherwise, chooses the requested company or, if none is requested, the first
 * by wave and row of the companies that can be moved.
 *
 * A requested company that was not moved, or whose outcome is unknown, returns to `waiting`. A requested company that
 * has moved is checked again.
 *
 * @returns null if the release is `nothing` or `all`, or if no company can be chosen
 */
export async function chooseFirstCompany(
  db: Database,
  migrationId: string,
  run: string,
): Promise<ChosenCompany | null> {
  return db.transaction().execute(async (tx) => {
    await lockDecisions(tx, migrationId);
    const migration = await tx
      .selectFrom('migrations')
      .select(['released', 'requested_first as requested', 'first_row as row'])
      .where('id', '=', migrationId)
      .executeTakeFirst();
    if (migration?.released !== 'first-company') return null;
    if (migration.row === null && migration.requested !== null)
      await resetRequested(tx, migrationId, migration.requested);
    const chosen = (await readBegun(tx, migrationId)) ?? (await findCandidate(tx, migrationId, migration.requested));
    if (chosen) await updateMigration(tx, migrationId, { first_row: chosen.row, current_run: run, ramp_only: false });
    return chosen;
  });
}

async function resetRequested(tx: Queryable, migrationId: string, requested: string): Promise<void> {
  await sql`
    update companies
    set state = case state when 'moved' then 'syncing' else 'waiting' end,
        next_check_at = case state when 'moved' then clock_timestamp() end,
        sync_started_at = case state when 'moved' then clock_timestamp() end,
        failure = null, failure_text = null, failure_accepted = false, not_before = null, relinking_since = null
    where migration_id = ${migrationId} and reference = ${requested}
      and state in ('failed', 'outcome-unknown', 'moved')`.execute(tx);
}

async function readBegun(tx: Queryable, migrationId: string): Promise<ChosenCompany | null> {
  const { rows } = await sql<ChosenCompany>`
    select c.row, c.reference from companies c
    join migrations m on m.id = c.migration_id and m.first_row = c.row
    where c.migration_id = ${migrationId}
      and (c.state not in ('waiting', 'excluded') or c.crossed_at is not null)`.execute(tx);
  return rows[0] ?? null;
}

async function findCandidate(
  tx: Queryable,
  migrationId: string,
  requested: string | null,
): Promise<ChosenCompany | null> {
  const { rows } = await sql<ChosenCompany>`
    select c.row, c.reference from companies c
    join migrations m on m.id = c.migration_id
    left join credentials v on v.migration_id = c.migration_id and v.row = c.row
    where c.migration_id = ${migrationId}
      and (${requested}::text is null or c.reference = ${requested})
      and ((v.row is not null and ${isReadyToMove()})
        or (c.reference = ${requested} and c.state in ('importing', 'syncing')))
    order by c.wave nulls last, c.row
    limit 1`.execute(tx);
  return rows[0] ?? null;
}

/**
 * Requests a company as the first company, and clears the earlier choice. Ends a recorded outage, because it delayed
 * the company that was chosen earlier.
 */
export async function requestFirstCompany(db: Queryable, migrationId: string, reference: string): Promise<void> {
  await updateMigration(db, migrationId, { requested_first: reference, first_row: null });
  await endOutage(db, migrationId);
}

/**
 * Requests the chosen company again if it is one of `companies`. If no company is chosen in step 5, for example because
 * a resume has cleared the choice, and `companies` consists of a single company that failed or has an unknown outcome,
 * requests that company.
 *
 * @returns the reference of the requested company if, in step 5, it has failed or has an unknown outcome; otherwise
 *   null
 */
export async function requestFirstAgain(
  db: Queryable,
  migrationId: string,
  companies: Companies,
): Promise<string | null> {
  const only = companies !== 'all' && companies.length === 1;
  const { rows } = await sql<{ reference: string; isAlone: boolean }>`
    update migrations m set requested_first = c.reference, first_row = null
    from companies c
    where m.id = ${migrationId} and c.migration_id = m.id
      and ${companies === 'all' ? sql`true` : sql`c.reference = any(${companies})`}
      and (c.row = m.first_row or (${only} and m.first_row is null and m.released = 'first-company'
        and c.state in ('failed', 'outcome-unknown')))
    returning c.reference, m.released = 'first-company' and c.state in ('failed', 'outcome-unknown') as "isAlone"`.execute(
    db,
  );
  return rows.find(({ isAlone }) => isAlone)?.reference ?? null;
}

/**
 * Clears the choice of the first company if that company failed, was left out, or has an unknown outcome, so that a
 * company is chosen again. Called when the migration is resumed. If the company is waiting, moving or moved, the choice
 * stays, because the workflow continues with that company.
 */
export async function clearFailedFirst(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    update migrations m set first_row = null
    from companies c
    where m.id = ${migrationId} and m.released != 'all' and c.migration_id = m.id and c.row = m.first_row
      and c.state not in ('waiting', 'importing', 'syncing', 'moved')`.execute(db);
}

/** Returns whether any company is syncing or has moved. Ignores companies that failed after handing over. */
export async function hasLinkedCompany(db: Queryable, migrationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from companies where migration_id = ${migrationId} and state in ('syncing', 'moved') limit 1`.execute(db);
  return rows.length > 0;
}

/** The stage of company `c`, whose move has begun. */
const STAGE = sql`
  case when c.state = 'moved' then 'verified' when c.state in ('importing', 'syncing') then 'importing' else 'failed' end`;

/** The condition that the move of company `c` has begun. A company can also be excluded before its move. */
const HAS_BEGUN = sql`(c.state <> 'waiting' and (c.state <> 'excluded' or c.tries > 0))`;

/**
 * The SQL for the first company of migration `m` and the stage of its move, as JSON. If a company is chosen: this
 * company; null if its move has not begun. If none is chosen, for example after `clearFailedFirst`: of the companies
 * that failed, were skipped, or have an unknown outcome, the one that was claimed last; null if there is none.
 */
export const FIRST_COMPANY = sql<Pick<FirstCompany, 'reference' | 'stage'> | null>`(
  select jsonb_build_object('reference', c.reference, 'stage', ${STAGE})
  from companies c
  where c.migration_id = m.id
    and case when m.first_row is null then c.state in ('failed', 'outcome-unknown', 'skipped')
      else c.row = m.first_row and ${HAS_BEGUN} end
  order by c.claimed_at desc nulls last
  limit 1)`;

/** Reads the chosen company and its evidence; null if no company was chosen, or if its move has not begun. */
export async function readFirstCompany(db: Database, migrationId: string): Promise<FirstCompany | null> {
  const { rows } = await sql<FirstCompany>`
    select c.row, c.reference, c.failure, coalesce(c.evidence, '[]') as evidence, ${STAGE} as stage
    from companies c
    join migrations m on m.id = c.migration_id and m.first_row = c.row
    where c.migration_id = ${migrationId} and m.route = 'managed' and ${HAS_BEGUN}`.execute(db);
  return rows[0] ?? null;
}
