/** Estimates: of the whole before it begins, and of what is left once something has been measured. */
import type { Estimate, KnownSpeed } from '../../domain/planning/estimate';
import { ASSUMED_SPEED, estimate, speedFrom } from '../../domain/planning/estimate';
import type { Database } from '../../store';
import { savePlanned, saveSpeed, measureSpeed, readLimits, readMigration, readSpeed, readVolume } from '../../store';
import type { ActivityDeps } from '../deps';

interface OfMigration {
  readonly migrationId: string;
}

/** What fewer companies show is kept for nobody else. */
const LEAST_TO_KEEP = 5;

export function estimateActivities({ db }: ActivityDeps) {
  return {
    /** Before anything is moved; what is expected of a proposed start is kept, to be compared with what comes true. */
    async estimatePlan({ migrationId, startAt }: OfMigration & { readonly startAt: string | null }): Promise<Estimate> {
      const planned = await estimateBefore(db, migrationId, startAt);
      if (startAt !== null) await savePlanned(db, migrationId, { startAt, estimate: planned });
      return planned;
    },

    /** From what this migration has shown itself; when a run has finished, later migrations learn from it too. */
    async estimateRest({
      migrationId,
      runFinished,
    }: OfMigration & { readonly runFinished: boolean }): Promise<Estimate> {
      const { platformKey, known: before } = await speedBefore(db, migrationId);
      const measured = await measureSpeed(db, migrationId);
      if (measured === null) return estimateWith(db, migrationId, before, null);
      const { companies } = measured;
      const known: KnownSpeed = { speed: speedFrom(measured, before.speed), basis: 'migration', companies };
      if (runFinished && companies >= LEAST_TO_KEEP) await saveSpeed(db, platformKey, known);
      return estimateWith(db, migrationId, known, null);
    },
  };
}

/** The estimate from what earlier migrations of the platform have shown, or from a careful guess. */
export async function estimateBefore(db: Database, migrationId: string, startAt: string | null): Promise<Estimate> {
  const { known } = await speedBefore(db, migrationId);
  return estimateWith(db, migrationId, known, startAt);
}

async function speedBefore(db: Database, migrationId: string): Promise<{ platformKey: string; known: KnownSpeed }> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new Error(`migration ${migrationId} is not in the ledger`);
  const { platformKey } = migration;
  return { platformKey, known: (await readSpeed(db, platformKey)) ?? ASSUMED_SPEED };
}

async function estimateWith(
  db: Database,
  migrationId: string,
  known: KnownSpeed,
  startAt: string | null,
): Promise<Estimate> {
  const { limits, now } = await readLimits(db, migrationId);
  const from = startAt !== null && Date.parse(startAt) > now.getTime() ? startAt : now.toISOString();
  return estimate({ volume: await readVolume(db, migrationId), limits, known, from });
}
