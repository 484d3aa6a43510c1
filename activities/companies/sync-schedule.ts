import type { DataStatus, SyncSettings } from '../../company-data-client';
import type { SyncSchedule } from '../../domain/companies/evidence';

const HOUR_MS = 3_600_000;

/**
 * When the service syncs a company by itself. Read when the company is found to have moved, one call of about ten: read
 * for all at the end, it would hold up the handover by a minute for each thousand companies.
 */
export function syncScheduleOf({ settings }: SyncSettings, status: DataStatus): SyncSchedule {
  const scheduled = settings.filter(
    ({ dataType, syncSchedule }) => syncSchedule > 0 && status[dataType]?.currentStatus === 'Complete',
  );
  if (scheduled.length === 0) return { everyHours: null, nextAt: null };
  const hours = scheduled.map(({ syncSchedule }) => syncSchedule);
  const due = scheduled.flatMap(({ dataType, syncSchedule }) => {
    const lastSync = status[dataType]?.lastSuccessfulSync;
    return lastSync === undefined ? [] : [Date.parse(lastSync) + syncSchedule * HOUR_MS];
  });
  return {
    everyHours: { least: Math.min(...hours), most: Math.max(...hours) },
    nextAt: due.length === 0 ? null : new Date(Math.min(...due)).toISOString(),
  };
}
