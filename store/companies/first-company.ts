/**
 * The first company. While only the first company is released, the claim accepts only the row in `first_row`.
 *
 * A decision can request a company (`requested_first`), which clears `first_row`. The next choice then sets it. Once
 * the chosen company has begun to move, only another decision can change the choice, so that nobody can move several
 * companies one after another as the first.
 */
import { sql } from 'kysely';
import type { Companies } from '../../domain/migration/decision';
import type { Database, Queryable } from '../database/database';
import { lockDecisions } from '../migrations/audit-trail';
import { isReadyToMove } from './claim';

export interface ChosenCompany {
  readonly row: number;
  readonly reference: string;
}

/**
 * Chooses the first company: the requested company, or otherwise the first company that can be moved. Makes `run` the
 * only run that can claim it.
 *
 * A requested company that was not moved, or whose outcome is unknown, returns to `waiting`. A requested company that
 * has moved is checked again.
 *
 * @returns null if no decision has released the first company, or no company (or not the requested one) can be moved
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
    if (chosen)
      await tx
        .updateTable('migrations')
        .set({ first_row: chosen.row, current_run: run, ramp_only: false })
        .where('id', '=', migrationId)
        .execute();
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

/** Returns the chosen company if its move has begun. */
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

/** Requests that another company goes first instead of the chosen one. */
export async function requestFirstCompany(db: Queryable, migrationId: string, reference: string): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ requested_first: reference, first_row: null })
    .where('id', '=', migrationId)
    .execute();
}

/** Requests the chosen company again, if it is one of these companies. */
export async function requestFirstAgain(db: Queryable, migrationId: string, companies: Companies): Promise<void> {
  await sql`
    update migrations m set requested_first = c.reference, first_row = null
    from companies c
    where m.id = ${migrationId} and c.migration_id = m.id and c.row = m.first_row
      and ${companies === 'all' ? sql`true` : sql`c.reference = any(${companies})`}`.execute(db);
}

/**
 * Chooses the first company again after a pause if its move has failed. A company that has not failed stays chosen,
 * because the workflow continues with it.
 */
export async function chooseFirstAgain(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    update migrations m set first_row = null
    from companies c
    where m.id = ${migrationId} and m.released != 'all' and c.migration_id = m.id and c.row = m.first_row
      and c.state not in ('waiting', 'importing', 'syncing', 'moved')`.execute(db);
}

/** Returns whether any company has been handed over to the service. */
export async function isCompanyHandedOver(db: Queryable, migrationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from companies where migration_id = ${migrationId} and state in ('syncing', 'moved') limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns whether the chosen company has been moved. */
export async function isFirstCompanyMoved(db: Queryable, migrationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from companies c
    join migrations m on m.id = c.migration_id and m.first_row = c.row
    where c.migration_id = ${migrationId} and c.state = 'moved'`.execute(db);
  return rows.length > 0;
}
