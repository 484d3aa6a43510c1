/** What a look at a company shows, check by check, in words for whoever approves it. */
import type { Connection, DataStatus } from '../../company-data-client';
import type { Evidence, Records, ServiceAnswer } from '../../domain/companies/evidence';
import { recordsText } from '../../domain/companies/evidence';
import { storedName } from '../../domain/companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { DueCompany } from '../../store';
import { organizationOf } from './connection';

/**
 * The refresh at the platform. The service makes one before it says `Linked`, and stores the new pair first: an accepted
 * authorization is the proof that the token was alive and that the service is the one who holds it now.
 */
export function refreshEvidence({ accepted }: DueCompany, platform: Platform): Evidence {
  return {
    check: 'refreshed at the platform',
    passed: true,
    detail: `${howAccepted(platform)}${accepted === null ? '; which answer said so is not known' : ''}`,
    ...rounded(accepted),
  };
}

function howAccepted({ requiredFields, optionalFields }: Platform): string {
  if (requiredFields.includes('refreshToken')) return 'the service refreshed the token once and keeps the new one';
  if (optionalFields.includes('refreshToken'))
    return 'the platform accepted the token; one to refresh was refreshed once';
  return 'the platform accepted the token; it has none to refresh';
}

export function authorizationEvidence({ status }: Connection, answer: ServiceAnswer): Evidence {
  return {
    check: 'no reauthorization required',
    passed: status === 'Linked',
    detail: `the connection is ${status}`,
    ...rounded(answer),
  };
}

/** By its id. The platform's name for it is shown beside the manifest's: whether they mean the same, people can say. */
export function organizationEvidence(due: DueCompany, connection: Connection): Evidence {
  const organization = organizationOf(connection);
  const name = connection.connectionInfo?.['organizationName'];
  return {
    check: 'right organization',
    passed: organization === undefined || organization === due.organization,
    detail: `${organization ?? 'the platform does not say'}${name === undefined ? '' : ` (${name})`}, for ${due.name}`,
  };
}

export function nameEvidence({ name, storedName: stored }: DueCompany): Evidence {
  return { check: 'name as expected', passed: stored === storedName(name), detail: `stored as ${stored ?? 'nothing'}` };
}

export interface DataSets {
  readonly complete: readonly string[];
  readonly broken: readonly string[];
  readonly running: readonly string[];
}

/** Ends of a sync that will not become better by waiting. The vocabulary is the service's. */
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
    // A data set that the platform does not have does not apply.
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

/** Fewer records than expected are missing ones; more are a note. */
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
