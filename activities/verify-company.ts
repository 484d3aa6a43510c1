/**
 * The verification of one company: no reauthorization required, the right organization, every data set synced
 * completely and correctly. What was found is the evidence.
 */
import type { CompanyDataClient, Connection, DataStatus } from '../company-data-client';
import { CompanyDataError } from '../company-data-client';
import type { Call, FailureKind, StopReason } from '../domain/failures';
import { consequenceOf, consequenceOfLinkError, inWords } from '../domain/failures';
import type { Evidence } from '../domain/migration-state';
import type { CheckOutcome, DueCompany } from '../store';
import { activeError, correlationIdOf } from './import-company';

export interface Verification {
  readonly service: CompanyDataClient;
  readonly syncTimeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Verified {
  readonly outcome: CheckOutcome;
  readonly stop: StopReason | null;
}

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 5 * 60_000;

/** Looks at a company whose syncs were started. */
export async function verifyCompany(verification: Verification, due: DueCompany): Promise<Verified> {
  const { service, signal } = verification;
  let call: Call = 'read-sync';
  let evidence: readonly Evidence[] = [];
  try {
    const { value: status } = await service.dataStatus(due.companyId, { signal });
    // Afterwards: a grant that ends during a sync ends that sync first.
    call = 'read-connection';
    const { value: connection, correlationId } = await service.getConnection(due.companyId, due.connectionId, {
      signal,
    });
    if (connection.status !== 'Linked') return reauthorizationRequired(due, connection, correlationId);
    evidence = authorizationEvidence(due, connection, correlationId);
    const wrong = evidence.find(({ passed }) => !passed);
    if (wrong) return wrongOrganization(due, wrong, evidence);
    const sets = sortOut(status);
    if (sets.running.length > 0) return stillSyncing(verification, due, sets.running.join(', '));
    // The syncs were started, but none of them shows yet.
    if (Object.keys(status).length === 0) return stillSyncing(verification, due, 'no data set yet');
    evidence = [...evidence, ...setEvidence(sets)];
    if (sets.broken.length > 0) {
      return failed(due, 'sync-failed', `${sets.broken.join(', ')} could not be synced`, evidence);
    }
    call = 'read-records';
    return await countedInvoices(verification, due, evidence, sets);
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const consequence = consequenceOf(call, error.toFailure());
    switch (consequence.then) {
      case 'fail':
      case 'fail-and-stop':
        return failed(due, consequence.kind, error.message, [], { correlationId: correlationIdOf(error) });
      case 'stop':
        return { outcome: lookAgain(due), stop: consequence.reason };
      case 'again':
        return { outcome: { ...lookAgain(due), ...afterAsked(consequence.afterMs) }, stop: null };
      case 'look':
        return { outcome: lookAgain(due), stop: null };
      case 'syncing':
        return stillSyncing(verification, due, error.message);
      case 'not-applicable':
        return migrated(due, evidence);
    }
  }
}

interface DataSets {
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

function sortOut(status: DataStatus): DataSets {
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

function authorizationEvidence(due: DueCompany, connection: Connection, correlationId: string | undefined): Evidence[] {
  const organization = connection.connectionInfo?.['organizationId'];
  const name = connection.connectionInfo?.['organizationName'];
  const quoted = correlationId === undefined ? {} : { correlationId };
  return [
    { check: 'no reauthorization required', passed: true, detail: `the connection is ${connection.status}`, ...quoted },
    {
      check: 'right organization',
      passed: organization === undefined || organization === due.organization,
      detail: `${organization ?? 'the platform does not say'}${name === undefined ? '' : ` (${name})`}`,
    },
  ];
}

function setEvidence({ complete, broken }: DataSets): Evidence[] {
  return [
    ...complete.map((dataType) => ({ check: `${dataType} synced`, passed: true, detail: 'Complete' })),
    ...broken.map((dataType) => ({ check: `${dataType} synced`, passed: false, detail: 'failed' })),
  ];
}

async function countedInvoices(
  { service, signal }: Verification,
  due: DueCompany,
  evidence: readonly Evidence[],
  sets: DataSets,
): Promise<Verified> {
  const expected = due.expectedInvoices;
  if (!sets.complete.includes('invoices')) return migrated(due, evidence);
  const { value: found, correlationId } = await service.countRecords(due.companyId, 'invoices', { signal });
  const counted: Evidence = {
    check: 'invoices complete',
    passed: expected === null || found >= expected,
    detail: expected === null ? `${found} found` : `${expected} expected, ${found} found`,
    ...(correlationId === undefined ? {} : { correlationId }),
  };
  const all = [...evidence, counted];
  if (counted.passed) return migrated(due, all);
  return failed(due, 'incomplete', `invoices: ${counted.detail}`, all, { correlationId });
}

function reauthorizationRequired(due: DueCompany, connection: Connection, correlationId: string | undefined): Verified {
  const error = activeError(connection);
  const consequence = consequenceOfLinkError(error?.statusText);
  // It was linked once, so whatever the platform says now, the end customer's consent is what is missing.
  const stop = consequence.then === 'stop' ? consequence.reason : null;
  return {
    ...failed(due, 'reauthorization-required', error?.errorMessage ?? `the connection is ${connection.status}`, [], {
      correlationId,
      linkUrl: connection.linkUrl,
    }),
    stop,
  };
}

function wrongOrganization(due: DueCompany, { detail }: Evidence, evidence: readonly Evidence[]): Verified {
  const text = `the platform says organization ${detail}, the manifest says ${due.organization}`;
  return { ...failed(due, 'wrong-organization', text, evidence), stop: 'wrong-organization' };
}

function stillSyncing({ syncTimeoutMs }: Verification, due: DueCompany, running: string): Verified {
  if (due.syncingForMs > syncTimeoutMs) {
    const hours = Math.round(syncTimeoutMs / 360_000) / 10;
    return failed(due, 'sync-timed-out', `after ${hours} hours still syncing: ${running}`, []);
  }
  return { outcome: lookAgain(due), stop: null };
}

/** Each look waits longer than the one before, in proportion to how long the sync has taken. */
function lookAgain(due: DueCompany): Extract<CheckOutcome, { to: 'syncing' }> {
  const waitMs = Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, due.syncingForMs / 4));
  return { row: due.row, to: 'syncing', nextCheckMs: waitMs * (0.8 + 0.4 * Math.random()) };
}

function afterAsked(afterMs: number | undefined): { nextCheckMs?: number } {
  return afterMs === undefined ? {} : { nextCheckMs: afterMs };
}

function migrated(due: DueCompany, evidence: readonly Evidence[]): Verified {
  return { outcome: { row: due.row, to: 'migrated', evidence }, stop: null };
}

function failed(
  due: DueCompany,
  failure: FailureKind,
  text: string,
  evidence: readonly Evidence[],
  found: { correlationId?: string | undefined; linkUrl?: string | undefined } = {},
): Verified {
  return {
    outcome: {
      row: due.row,
      to: 'failed',
      failure,
      text: `${inWords(failure)} (${text})`,
      evidence,
      ...(found.correlationId === undefined ? {} : { correlationId: found.correlationId }),
      ...(found.linkUrl === undefined ? {} : { linkUrl: found.linkUrl }),
    },
    stop: null,
  };
}
