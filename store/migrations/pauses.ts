/** Pauses of a migration: by people, and because of a problem. */
import { updateMigration, type Database, type Queryable } from '../database/database';
import { beginPause, endOutage, endPause, reportStop, type ReportedStop } from './stoppages';

/**
 * Pauses or resumes claims because of a decision. Imports in progress finish. A pause because of a problem stays when a
 * person pauses as well. A resume lifts both pauses. A pause ends a recorded outage, because a person now stops the
 * moves.
 */
export async function setPaused(db: Queryable, migrationId: string, paused: boolean): Promise<void> {
  const columns = paused
    ? { paused, paused_by_people: true }
    : { paused, paused_by_people: false, paused_itself: false };
  await updateMigration(db, migrationId, columns);
  await (paused ? endOutage : endPause)(db, migrationId);
}

/** Lifts the pauses by people if the migration is also paused because of a problem. It then stays paused. */
export async function liftPausesByPeople(db: Queryable, migrationId: string): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ paused_by_people: false })
    .where('id', '=', migrationId)
    .where('paused_itself', '=', true)
    .execute();
}

/**
 * Pauses claims because of a problem. Then only support (in the self-service route, also the client) can resume them.
 * Imports in progress finish. A recorded outage ends, because the problem now stops the moves.
 *
 * @param reported the reason; absent if a slice has already reported it (`reportStop`)
 */
export async function pauseForProblem(db: Database, migrationId: string, reported?: ReportedStop): Promise<void> {
  // One transaction, so that the pause, its reason and the end of the outage are stored together. Several slices can
  // pause the migration at once: each waits for the row's lock.
  await db.transaction().execute(async (tx) => {
    await updateMigration(tx, migrationId, { paused: true, paused_itself: true });
    await endOutage(tx, migrationId);
    if (reported) await reportStop(tx, migrationId, reported);
    await beginPause(tx, migrationId);
  });
}
