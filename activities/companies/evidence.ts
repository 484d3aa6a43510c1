/** Turns the service's data about a company into evidence: one entry per check, worded for people. */
import type { Connection, DataStatus, SyncSettings } from '../../company-data-client';
import {
  EVIDENCE_LABELS,
  recordsText,
  type Evidence,
  type Records,
  type ServiceAnswer,
  type SyncSchedule,
} from '../../domain/companies/evidence';
import { storedName } from '../../domain/companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { DueCompany } from '../../store';
import { hasRightOrganization, organizationOf } from './service-refs';

/**
 * Returns the evidence that the platform has accepted the token. If the credential contains a refresh token, the
 * service refreshes the token and stores the new token before it answers `Linked`. An accepted authorization therefore
 * proves that the token worked, and that only the service has the current token.
 */
export function refreshEvidence({ accepted }: DueCompany, platform: Platform): Evidence {
  return {
    code: 'refreshed',
    label: EVIDENCE_LABELS.refreshed,
    passed: true,
    // `accepted` is null if the response was lost, the connection was already linked, or the end customer has
    // reconnected.
    detail: accepted === null ? NO_ACCEPTANCE : howAccepted(platform),
    ...rounded(accepted),
  };
}

const NO_ACCEPTANCE =
  'no answer that accepted the supplied token is stored, so the end customer might have linked the connection';

function howAccepted({ requiredFields, optionalFields }: Platform): string {
  if (requiredFields.includes('refreshToken')) return 'the service refreshed the token once and stored the new token';
  if (optionalFields.includes('refreshToken'))
    return 'the platform accepted the token; if a refresh token was supplied, the service used it once';
  return 'the platform accepted the token; the credential contains no refresh token';
}

export function authorizationEvidence({ status }: Connection, answer: ServiceAnswer): Evidence {
  return {
    code: 'authorized',
    label: EVIDENCE_LABELS.authorized,
    passed: status === 'Linked',
    detail: `the connection is ${status}`,
    ...rounded(answer),
  };
}

/**
 * Compares organizations by id. Also shows the names at the platform and in the manifest, because only people can
 * compare names.
 */
export function organizationEvidence(due: DueCompany, connection: Connection): Evidence {
  const organization = organizationOf(connection);
  const name = connection.connectionInfo?.['organizationName'];
  return {
    code: 'organization',
    label: EVIDENCE_LABELS.organization,
    passed: hasRightOrganization(connection, due.organization),
    detail: organizationText(organization, name, due.name),
  };
}

function organizationText(organization: string | undefined, name: string | undefined, nameInManifest: string): string {
  if (organization !== undefined)
    return `${organization}${name === undefined ? '' : ` (${name})`}; the manifest calls the company ${nameInManifest}`;
  return name === undefined
    ? `the platform reported no organization, so it was not compared; the manifest calls the company ${nameInManifest}`
    : `the platform reported no organization id, so compare the names yourself: the platform's is ${name}, the manifest's is ${nameInManifest}`;
}

export function nameEvidence({ name, storedName: nameAtService }: DueCompany): Evidence {
  return {
    code: 'name',
    label: EVIDENCE_LABELS.name,
    passed: nameAtService === storedName(name),
    detail: nameAtService === null ? 'the name at the service is not known' : `stored as ${nameAtService}`,
  };
}

export interface DataSets {
  readonly complete: readonly string[];
  readonly broken: readonly string[];
  readonly running: readonly string[];
}

/** The service's statuses for a sync that has failed for good. Waiting does not change them. */
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
    if (currentStatus === 'NotSupported') continue;
    if (currentStatus === 'Complete') complete.push(dataType);
    else if (BROKEN.includes(currentStatus)) broken.push(dataType);
    else running.push(dataType);
  }
  return { complete, broken, running };
}

export function syncEvidence(dataType: string, passed: boolean): Evidence {
  return { code: 'synced', label: `${dataType} synced`, passed, detail: passed ? 'Complete' : 'failed' };
}

/** Compares the number of records with the manifest. The check fails if there are fewer, but not if there are more. */
export function recordEvidence(records: Records, answer: ServiceAnswer): Evidence {
  return {
    code: 'complete',
    label: `${records.dataType} complete`,
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
 * Returns how often the service syncs a company automatically, and when the next sync begins. The settings are read for
 * each company when it has moved: reading the settings of all companies before the handover would delay the handover by
 * a minute per thousand companies.
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
    nextAt: instantText(Math.min(...nextSyncs)),
  };
}

/**
 * Returns an instant in ISO 8601; null if `epochMs` is outside the range of dates, for example Infinity because no data
 * set has a last sync.
 */
function instantText(epochMs: number): string | null {
  const instant = new Date(epochMs);
  return Number.isNaN(instant.getTime()) ? null : instant.toISOString();
}
