/** Windows: in the ledger, which every claim is held to, and as a Schedule, which opens them. */
import type { WindowOccurrence, ScheduleState } from '../../domain/planning/windows';
import { windowOccurrences } from '../../domain/planning/windows';
import { readLimits, readMigration, setWindowOccurrence } from '../../store';
import type { ActivityDeps } from '../deps';

interface OfMigration {
  readonly migrationId: string;
}

/** When companies may be started. */
export interface OpenWindow {
  /** The present or the next opening; null: at any time. */
  readonly opening: WindowOccurrence | null;
  /** Milliseconds, by the ledger's clock; 0: it is open. */
  readonly opensInMs: number;
}

export function windowActivities(deps: ActivityDeps) {
  const { db, schedules } = deps;
  return {
    /** Lets companies be claimed in the opening that is now, or comes next. */
    async openWindow({ migrationId }: OfMigration): Promise<OpenWindow> {
      const { next, now } = await openings(deps, migrationId);
      const opening = next[0] ?? null;
      await setWindowOccurrence(db, migrationId, opening);
      return { opening, opensInMs: opening ? Math.max(0, Date.parse(opening.opensAt) - now.getTime()) : 0 };
    },

    /** Has the migration's Schedule list its next openings; one that is closed, or has no windows, has none. */
    async keepSchedule({ migrationId }: OfMigration): Promise<ScheduleState> {
      const migration = await readMigration(db, migrationId);
      const isOpen = migration !== undefined && migration.state !== 'closed';
      return schedules.keep(migrationId, isOpen ? (await openings(deps, migrationId)).next : []);
    },

    async deleteSchedule({ migrationId }: OfMigration): Promise<void> {
      await schedules.keep(migrationId, []);
    },
  };
}

/** A run that is under way keeps to other windows with its next claim, and the Schedule, where there is one, lists them. */
export async function updateWindowOccurrence(deps: ActivityDeps, migrationId: string): Promise<void> {
  const { next } = await openings(deps, migrationId);
  await setWindowOccurrence(deps.db, migrationId, next[0] ?? null);
  await deps.schedules.refresh(migrationId, next);
}

async function openings(
  { db }: ActivityDeps,
  migrationId: string,
): Promise<{ next: readonly WindowOccurrence[]; now: Date }> {
  const { limits, now } = await readLimits(db, migrationId);
  return { next: windowOccurrences(limits.windows, now.toISOString()), now };
}
