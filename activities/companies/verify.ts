/**
 * The verification of one company: no reauthorization required, the right organization, every data set synced
 * completely and correctly. What was found is the evidence.
 */
import type { CompanyDataClient, Connection, DataStatus } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';
import type { Evidence, SyncSchedule } from '../../domain/companies/evidence';
import type { Call, FailureKind, StopReason } from '../../domain/companies/failures';
import { consequenceOf, consequenceOfLinkError, failureText } from '../../domain/companies/failures';
import { pollDelayMs } from '../../domain/planning/polling';
import type { Platform } from '../../platforms/platforms';
import type { CheckOutcome, DueCompany } from '../../store';
import type { DataSets } from './evidence';
import {
  authorizationEvidence,
  nameEvidence,
  organizationEvidence,
  recordEvidence,
  refreshEvidence,
  groupDataSets,
  syncEvidence,
} from './evidence';
import { syncScheduleOf } from './sync-schedule';
import { activeError, organizationOf } from './connection';
import { counted } from '../../domain/text/sentences';

export interface Verification {
  readonly service: CompanyDataClient;
  readonly platform: Platform;
  readonly syncTimeoutMs: number;
  /**
   * The first company proves the way: each of its data sets is counted and timed. Of those that follow it a data set is
   * counted only where the manifest says how many records it has; that the others are `Complete` has been proven to
   * mean what it says, and counting them would cost half as many requests again as their whole move.
   */
  readonly everyDataSet: boolean;
  readonly signal: AbortSignal;
}

export interface Verified {
  readonly outcome: CheckOutcome;
  readonly stop: StopReason | null;
  /** Why nothing could be seen: the service or its platform did not answer. */
  readonly putOff?: string;
}

/** A sync that takes longer is looked at rarely; then the connection is looked at too. */
const YOUNG_MS = 60_000;

/** Looks at a company whose syncs were started. */
export async function verifyCompany(verification: Verification, due: DueCompany): Promise<Verified> {
  const { service, platform, everyDataSet, signal } = verification;
  let call: Call = 'read-sync';
  let evidence: readonly Evidence[] = [];
  try {
    const { value: status } = await service.dataStatus(due.companyId, { signal });
    const sets = groupDataSets(status);
    const syncing = whatIsSyncing(sets, status);
    // A grant that ends ends its syncs as well: while they are young, a look is one call.
    if (syncing !== null && due.syncingForMs < YOUNG_MS) return stillSyncing(verification, due, syncing);
    // Afterwards: a grant that ends during a sync ends that sync first.
    call = 'read-connection';
    const { value: connection, ...answer } = await service.getConnection(due.companyId, due.connectionId, { signal });
    evidence = [refreshEvidence(due, platform), authorizationEvidence(connection, answer)];
    if (connection.status !== 'Linked') return reauthorizationRequired(due, connection, evidence);
    const organization = organizationEvidence(due, connection);
    evidence = [...evidence, organization, ...(everyDataSet ? [nameEvidence(due)] : [])];
    if (!organization.passed) return wrongOrganization(due, connection, evidence);
    if (syncing !== null) return stillSyncing(verification, due, syncing);
    if (sets.broken.length > 0) {
      evidence = [...evidence, ...setEvidence(sets)];
      return failed(due, 'sync-failed', `${sets.broken.join(', ')} could not be synced`, evidence);
    }
    call = 'read-records';
    evidence = [...evidence, ...(await countedSets(verification, due, sets, status))];
    const incomplete = evidence.find(({ records, passed }) => records && !passed);
    if (incomplete) {
      const text = `${incomplete.records?.dataType}: ${incomplete.detail}`;
      return failed(due, 'incomplete', text, evidence, incomplete);
    }
    call = 'read-sync';
    const { value: settings } = await service.syncSettings(due.companyId, { signal });
    return migrated(due, evidence, syncScheduleOf(settings, status));
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const consequence = consequenceOf(call, error.toFailure());
    switch (consequence.then) {
      case 'fail':
      case 'fail-and-stop':
        return failed(due, consequence.kind, error.message, evidence, { correlationId: error.correlationId });
      case 'stop':
        return { outcome: lookAgain(due), stop: consequence.reason };
      case 'again':
        return {
          outcome: { ...lookAgain(due), ...afterAsked(consequence.afterMs) },
          stop: null,
          putOff: error.message,
        };
      case 'look':
        return { outcome: lookAgain(due), stop: null };
      case 'syncing':
      case 'not-applicable':
        return stillSyncing(verification, due, error.message);
    }
  }
}

/** Null: every data set is complete, or broken. */
function whatIsSyncing({ running }: DataSets, status: DataStatus): string | null {
  if (running.length > 0) return running.join(', ');
  // The syncs were started, but none of them shows yet.
  return Object.keys(status).length === 0 ? 'no data set yet' : null;
}

function setEvidence({ complete, broken }: DataSets): Evidence[] {
  return [
    ...complete.map((dataType) => syncEvidence(dataType, true)),
    ...broken.map((dataType) => syncEvidence(dataType, false)),
  ];
}

/** What is counted comes last: it is the result. */
async function countedSets(
  verification: Verification,
  due: DueCompany,
  { complete }: DataSets,
  status: DataStatus,
): Promise<readonly Evidence[]> {
  const { everyDataSet } = verification;
  const counted = complete.filter((dataType) => everyDataSet || dataType === 'invoices');
  const synced = complete.filter((dataType) => !counted.includes(dataType)).map((name) => syncEvidence(name, true));
  const durations = everyDataSet ? await syncDurations(verification, due, status) : new Map<string, number>();
  const records: Evidence[] = [];
  for (const dataType of counted) {
    const evidence = await countedSet(verification, due, dataType);
    const durationMs = durations.get(dataType);
    if (evidence) records.push(durationMs === undefined ? evidence : { ...evidence, durationMs });
  }
  return [...synced, ...records];
}

/** Undefined: the platform lacks this data set, which shows only when it is read. */
async function countedSet(
  { service, signal }: Verification,
  due: DueCompany,
  dataType: string,
): Promise<Evidence | undefined> {
  // A manifest promises invoices; of other data sets it says nothing.
  const expected = dataType === 'invoices' ? due.expectedInvoices : null;
  try {
    const { value: found, ...answer } = await service.countRecords(due.companyId, dataType, { signal });
    return recordEvidence({ dataType, expected, found }, answer);
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    if (consequenceOf('read-records', error.toFailure()).then !== 'not-applicable') throw error;
    return undefined;
  }
}

/** How long the sync of each data set took, as the service wrote it down. Milliseconds. */
async function syncDurations(
  { service, signal }: Verification,
  due: DueCompany,
  status: DataStatus,
): Promise<ReadonlyMap<string, number>> {
  const latest = new Set(Object.values(status).map(({ latestSuccessfulSyncId }) => latestSuccessfulSyncId));
  const durations = new Map<string, number>();
  for await (const { id, dataType, requested, completed } of service.syncHistory(due.companyId, { signal })) {
    if (!latest.has(id) || completed === undefined) continue;
    durations.set(dataType, Date.parse(completed) - Date.parse(requested));
  }
  return durations;
}

function reauthorizationRequired(due: DueCompany, connection: Connection, evidence: readonly Evidence[]): Verified {
  const error = activeError(connection);
  const consequence = consequenceOfLinkError(error?.statusText);
  // It was linked once, so whatever the platform says now, the end customer's consent is what is missing.
  const stop = consequence.then === 'stop' ? consequence.reason : null;
  return {
    ...failed(
      due,
      'reauthorization-required',
      error?.errorMessage ?? `the connection is ${connection.status}`,
      evidence,
      {
        correlationId: evidence.at(-1)?.correlationId,
        linkUrl: connection.linkUrl,
      },
    ),
    stop,
  };
}

function wrongOrganization(due: DueCompany, connection: Connection, evidence: readonly Evidence[]): Verified {
  const { linkUrl } = connection;
  const text = `the platform says organization ${organizationOf(connection)}, the manifest says ${due.organization}`;
  // What an end customer chose, who has connected again, says nothing about other companies.
  const stop = due.accepted === null ? null : 'wrong-organization';
  return { ...failed(due, 'wrong-organization', text, evidence, { linkUrl }), stop };
}

function stillSyncing({ syncTimeoutMs }: Verification, due: DueCompany, running: string): Verified {
  if (due.syncingForMs > syncTimeoutMs) {
    const hours = Math.round(syncTimeoutMs / 360_000) / 10;
    return failed(due, 'sync-timed-out', `after ${counted(hours, 'hour')} still syncing: ${running}`, []);
  }
  return { outcome: lookAgain(due), stop: null };
}

function lookAgain(due: DueCompany): Extract<CheckOutcome, { to: 'syncing' }> {
  const waitMs = pollDelayMs(due.syncingForMs);
  return { row: due.row, to: 'syncing', nextCheckMs: waitMs * (0.8 + 0.4 * Math.random()) };
}

function afterAsked(afterMs: number | undefined): { nextCheckMs?: number } {
  return afterMs === undefined ? {} : { nextCheckMs: afterMs };
}

function migrated(due: DueCompany, evidence: readonly Evidence[], schedule: SyncSchedule): Verified {
  return { outcome: { row: due.row, to: 'migrated', evidence, schedule }, stop: null };
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
      text: `${failureText(failure)} (${text})`,
      evidence,
      ...(found.correlationId === undefined ? {} : { correlationId: found.correlationId }),
      ...(found.linkUrl === undefined ? {} : { linkUrl: found.linkUrl }),
    },
    stop: null,
  };
}
