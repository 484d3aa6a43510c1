/** The activities that estimate the whole move before it begins, and the remaining part of the move later. */
import {
  ASSUMED_SPEED,
  estimate,
  MIN_COMPANIES_MEASURED,
  speedFrom,
  type Estimate,
  type SpeedEstimate,
} from '../../domain/planning/estimate';
import type { Throughput } from '../../domain/planning/throughput';
import { windowOccurrences } from '../../domain/planning/windows';
import {
  endOutage,
  savePlannedEstimate,
  saveSpeed,
  measureSpeed,
  readLimits,
  readMigration,
  readSpeed,
  readThroughput,
  readVolume,
  type Database,
} from '../../store';
import type { ActivityDeps, MigrationRef } from '../deps';

export function estimateActivities({ db }: ActivityDeps) {
  return {
    /**
     * Estimates the whole move. If a start is proposed, stores the start and the estimate, so that the report can
     * compare them with the actual move. Stores nothing if the start is not a valid time, or once the migration has
     * ended.
     */
    async estimatePlan({
      migrationId,
      startAt,
    }: MigrationRef & { readonly startAt: string | null }): Promise<Estimate> {
      const planned = await estimateBeforeMove(db, migrationId, startAt);
      if (typeof startAt === 'string' && !Number.isNaN(Date.parse(startAt)))
        await savePlannedEstimate(db, migrationId, {
          ...{ startAt, estimate: planned },
          ...(await openingAfter(db, migrationId, startAt)),
        });
      return planned;
    },

    /**
     * Estimates the remaining part of the move. Uses this migration's speed if it has been measured, and otherwise the
     * same speed as `estimatePlan`. When a run has finished, stores the speed for later migrations if it was measured
     * on enough companies.
     */
    async estimateRemaining({
      migrationId,
      runFinished,
    }: MigrationRef & { readonly runFinished: boolean }): Promise<Estimate> {
      // Nothing waits for the service any more, for example because the window has closed.
      if (runFinished) await endOutage(db, migrationId);
      const { platformKey, speedEstimate: before } = await earlierSpeed(db, migrationId);
      const measured = await measureSpeed(db, migrationId);
      if (measured === null) return estimateWith(db, migrationId, before, null);
      const { companies } = measured;
      const speedEstimate: SpeedEstimate = { speed: speedFrom(measured, before.speed), basis: 'migration', companies };
      if (runFinished && companies >= MIN_COMPANIES_MEASURED) await saveSpeed(db, platformKey, speedEstimate);
      return estimateWith(db, migrationId, speedEstimate, null, await readThroughput(db, migrationId));
    },
  };
}

/** Returns when the first window after the start opens; empty if a window is open then, or there are no windows. */
async function openingAfter(
  db: Database,
  migrationId: string,
  startAt: string,
): Promise<{ readonly opensAt?: string }> {
  const { limits } = await readLimits(db, migrationId);
  const opensAt = windowOccurrences(limits.windows, startAt)[0]?.opensAt;
  return opensAt === undefined || Date.parse(opensAt) <= Date.parse(startAt) ? {} : { opensAt };
}

/** Estimates with the speed of an earlier migration on the same platform, or else with a cautious assumption. */
export async function estimateBeforeMove(db: Database, migrationId: string, startAt: string | null): Promise<Estimate> {
  const { speedEstimate } = await earlierSpeed(db, migrationId);
  return estimateWith(db, migrationId, speedEstimate, startAt);
}

async function earlierSpeed(
  db: Database,
  migrationId: string,
): Promise<{ platformKey: string; speedEstimate: SpeedEstimate }> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new Error(`migration ${migrationId} is not in the ledger`);
  const { platformKey } = migration;
  return { platformKey, speedEstimate: (await readSpeed(db, platformKey)) ?? ASSUMED_SPEED };
}

async function estimateWith(
  db: Database,
  migrationId: string,
  speedEstimate: SpeedEstimate,
  startAt: string | null,
  throughput: Throughput | null = null,
): Promise<Estimate> {
  const { limits, now } = await readLimits(db, migrationId);
  const from = startAt !== null && Date.parse(startAt) > now.getTime() ? startAt : now.toISOString();
  return estimate({ volume: await readVolume(db, migrationId), limits, speedEstimate, throughput, from });
}
