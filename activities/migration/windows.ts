/**
 * The activities that keep a migration's windows in two places: in the ledger, where every claim checks them, and in a
 * Temporal Schedule, which starts work when a window opens.
 */
import { windowOccurrences, type WindowOccurrence, type ScheduleState } from '../../domain/planning/windows';
import { readLimits, readMigration, setWindowOccurrence } from '../../store';
import type { ActivityDeps, MigrationRef } from '../deps';

/** When moves can begin. */
export interface WindowStatus {
  /** The current or the next occurrence; null if the migration has no windows, so moves can begin at any time. */
  readonly window: WindowOccurrence | null;
  /** Milliseconds until the window opens, by the ledger's clock; 0 if it is open or the migration has no windows. */
  readonly opensInMs: number;
}

export function windowActivities(deps: ActivityDeps) {
  const { db, schedules } = deps;
  return {
    /** Finds the current or next occurrence and writes it to the ledger, which allows claims only within it. */
    async findWindow({ migrationId }: MigrationRef): Promise<WindowStatus> {
      const { next, now } = await nextOccurrences(deps, migrationId);
      const window = next[0] ?? null;
      await setWindowOccurrence(db, migrationId, window);
      return { window, opensInMs: window ? Math.max(0, Date.parse(window.opensAt) - now.getTime()) : 0 };
    },

    /** Creates or updates the migration's Schedule, or deletes it if the migration is closed or has no windows. */
    async updateSchedule({ migrationId }: MigrationRef): Promise<ScheduleState> {
      const migration = await readMigration(db, migrationId);
      const isOpen = migration !== undefined && migration.state !== 'closed';
      return schedules.update(migrationId, isOpen ? (await nextOccurrences(deps, migrationId)).next : []);
    },

    async deleteSchedule({ migrationId }: MigrationRef): Promise<void> {
      await schedules.update(migrationId, []);
    },
  };
}

/** Applies changed windows to the ledger, where the next claim checks them, and to the Schedule if it exists. */
export async function updateWindowOccurrence(deps: ActivityDeps, migrationId: string): Promise<void> {
  const { next } = await nextOccurrences(deps, migrationId);
  await setWindowOccurrence(deps.db, migrationId, next[0] ?? null);
  await deps.schedules.refresh(migrationId, next);
}

async function nextOccurrences(
  { db }: ActivityDeps,
  migrationId: string,
): Promise<{ next: readonly WindowOccurrence[]; now: Date }> {
  const { limits, now } = await readLimits(db, migrationId);
  return { next: windowOccurrences(limits.windows, now.toISOString()), now };
}
