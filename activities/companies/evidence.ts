/**
 * Turns what the service shows of a company into evidence: one entry per check, in words for the person who approves
 * it.
 */
import type { Connection, DataStatus, SyncSettings } from '../../company-data-client';
import type { Evidence, Records, ServiceAnswer, SyncSchedule } from '../../domain/companies/evidence';
import { CHECKS, recordsText } from '../../domain/companies/evidence';
import { storedName } from '../../domain/companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { DueCompany } from '../../store';
import { organizationOf } from './service-refs';

/**
 * Shows that the platform refreshed the token. The service refreshes it and stores the new pair before it answers
 * `Linked`, so an accepted authorization proves that the token worked and that only the service holds it now.
 */
export function refreshEvidence({ accepted }: DueCompany, platform: Platform): Evidence {
  return {
    check: CHECKS.refreshed,
    passed: true,
    detail: `${howAccepted(platform)}${accepted === null ? '; the answer itself was lost' : ''}`,
    ...rounded(accepted),
  };
}

function howAccepted({ requiredFields, optionalFields }: Platform): string {
  if (requiredFields.includes('refreshToken')) return 'the service refreshed the token once and keeps the new one';
  if (optionalFields.includes('refreshToken'))
    return 'the platform accepted the token; a refresh token was refreshed once';
  return 'the platform accepted the token; there is no refresh token';
}

export function authorizationEvidence({ status }: Connection, answer: ServiceAnswer): Evidence {
  return {
    check: CHECKS.authorized,
    passed: status === 'Linked',
    detail: `the connection is ${status}`,
    ...rounded(answer),
  };
}

/**
 * Compares organizations by id. Shows the platform's name beside the manifest's, because only people can compare names.
 */
export function organizationEvidence(due: DueCompany, connection: Connection): Evidence {
  const organization = organizationOf(connection);
  const name = connection.connectionInfo?.['organizationName'];
  return {
    check: CHECKS.organization,
    passed: organization === undefined || organization === due.organization,
    detail: `${organization ?? 'the platform does not say'}${name === undefined ? '' : ` (${name})`}, for ${due.name}`,
  };
}

export function nameEvidence({ name, storedName: stored }: DueCompany): Evidence {
  return { check: CHECKS.name, passed: stored === storedName(name), detail: `stored as ${stored ?? 'nothing'}` };
}

export interface DataSets {
  readonly complete: readonly string[];
  readonly broken: readonly string[];
  readonly running: readonly string[];
}

/** Final failures of a sync, in the service's words. Waiting does not change them. */
const BROKEN = [
  'FetchError',
  'MapError',
  'InternalError',
  'ProcessingError',
  'ValidationError',
  'AuthError',
  'Cancelled',
  'RateLimitError',
  'PermissionsError',
  'PrerequisiteNotMet',
];

export function groupDataSets(status: DataStatus): DataSets {
  const complete: string[] = [];
  const broken: string[] = [];
  const running: string[] = [];
  for (const { dataType, currentStatus } of Object.values(status)) {
    // The platform does not have this data set.
    if (currentStatus === 'NotSupported') continue;
    if (currentStatus === 'Complete') complete.push(dataType);
    else if (BROKEN.includes(currentStatus)) broken.push(dataType);
    else running.push(dataType);
  }
  return { complete, broken, running };
}

export function syncEvidence(dataType: string, passed: boolean): Evidence {
  return { check: `${dataType} synced`, passed, detail: passed ? 'Complete' : 'failed' };
}

/** Compares the number of records with the manifest. Fewer fail the check; more do not. */
export function recordEvidence(records: Records, answer: ServiceAnswer): Evidence {
  return {
    check: `${records.dataType} complete`,
    passed: records.expected === null || records.found >= records.expected,
    detail: recordsText(records),
    records,
    ...rounded(answer),
  };
}

function rounded(answer: ServiceAnswer | null): Pick<Evidence, 'correlationId' | 'durationMs'> {
  return answer === null ? {} : { ...answer, durationMs: Math.round(answer.durationMs) };
}

const HOUR_MS = 3_600_000;

/**
 * Returns when the service syncs a company by itself. It is read when the company has moved, as one call of about ten;
 * reading it for all companies at the end would delay the handover by a minute per thousand companies.
 */
export function syncScheduleOf({ settings }: SyncSettings, status: DataStatus): SyncSchedule {
  const scheduled = settings.filter(
    ({ dataType, syncSchedule }) => syncSchedule > 0 && status[dataType]?.currentStatus === 'Complete',
  );
  if (scheduled.length === 0) return { everyHours: null, nextAt: null };
  const hours = scheduled.map(({ syncSchedule }) => syncSchedule);
  const nextSyncs = scheduled.flatMap(({ dataType, syncSchedule }) => {
    const lastSync = status[dataType]?.lastSuccessfulSync;
    return lastSync === undefined ? [] : [Date.parse(lastSync) + syncSchedule * HOUR_MS];
  });
  return {
    everyHours: { least: Math.min(...hours), most: Math.max(...hours) },
    nextAt: nextSyncs.length === 0 ? null : new Date(Math.min(...nextSyncs)).toISOString(),
  };
}
