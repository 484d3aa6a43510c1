/**
 * The verification of one company whose syncs have been started. It checks that no reauthorization is required, that
 * the organization is the right one, and that all data sets are complete. Each check produces evidence.
 */
import { CompanyDataError, type CompanyDataClient, type Connection, type DataStatus } from '../../company-data-client';
import type { Evidence, SyncSchedule } from '../../domain/companies/evidence';
import type { Deferral } from './circuit-breaker';
import {
  consequenceOf,
  consequenceOfLinkError,
  failureText,
  sourceOf,
  type Call,
  type FailureKind,
  type StopReason,
} from '../../domain/companies/failures';
import { pollDelayMs } from '../../domain/planning/pacing';
import type { Platform } from '../../platforms/platforms';
import type { CheckOutcome, DueCompany } from '../../store';
import {
  authorizationEvidence,
  nameEvidence,
  organizationEvidence,
  recordEvidence,
  refreshEvidence,
  groupDataSets,
  syncEvidence,
  syncScheduleOf,
  type DataSets,
} from './evidence';
import { activeError, COMPANY_GONE, isCompanyGone, isGone, linkProblemOf, wrongOrganizationText } from './service-refs';
import { hoursText } from '../../domain/text/sentences';

export interface Verification {
  readonly service: CompanyDataClient;
  readonly platform: Platform;
  readonly syncTimeoutMs: number;
  /**
   * True to count and time every data set, which is done only for the first company. For the other companies, only
   * invoices are counted, because the manifest contains an expected number only for invoices. Counting every data set
   * would increase the number of requests by half. It is not needed, because the first company has shown that data sets
   * with the status `Complete` are complete.
   */
  readonly countEveryDataSet: boolean;
  readonly signal: AbortSignal;
}

export interface VerificationResult {
  readonly outcome: CheckOutcome;
  readonly stop: StopReason | null;
  /** Present only if the company must be tried again (circuit-breaker.ts). */
  readonly deferredBy?: Deferral;
}

/**
 * Until this age, a check of running syncs reads only their status, because checks are frequent. Later checks also read
 * the connection.
 */
const YOUNG_SYNC_MS = 60_000;

export async function verifyCompany(verification: Verification, due: DueCompany): Promise<VerificationResult> {
  const { service, platform, countEveryDataSet, signal } = verification;
  let call: Call = 'read-sync';
  let evidence: readonly Evidence[] = [];
  try {
    const { value: status } = await service.dataStatus(due.companyId, { signal });
    const sets = groupDataSets(status);
    const syncing = dataSetsInSync(sets, status);
    // If the grant ends, the syncs fail as well. In the first minute, checking their status is therefore enough.
    if (syncing !== null && due.syncingForMs < YOUNG_SYNC_MS) return stillSyncing(verification, due, syncing);
    // Reads the connection after the status. In the other order, a grant that ends in between would show a linked
    // connection with failed syncs, and would count as `sync-failed`.
    call = 'read-connection';
    const { value: connection, ...answer } = await service.getConnection(due.companyId, due.connectionId, { signal });
    evidence = [refreshEvidence(due, platform), authorizationEvidence(connection, answer)];
    if (connection.status !== 'Linked') return reauthorizationRequired(due, connection, evidence);
    const organization = organizationEvidence(due, connection);
    evidence = [...evidence, organization, ...(countEveryDataSet ? [nameEvidence(due)] : [])];
    if (!organization.passed) return wrongOrganization(due, connection, evidence);
    if (syncing === NOT_STARTED && due.syncingForMs <= verification.syncTimeoutMs) {
      call = 'start-sync';
      await service.startSync(due.companyId, { signal });
    }
    if (syncing !== null) return stillSyncing(verification, due, syncing);
    if (sets.broken.length > 0) {
      const synced = sets.complete.map((dataType) => syncEvidence(dataType, true));
      evidence = [...evidence, ...synced, ...sets.broken.map((dataType) => syncEvidence(dataType, false))];
      return failed(due, 'sync-failed', sets.broken.join(', '), evidence);
    }
    call = 'read-records';
    evidence = [...evidence, ...(await dataSetEvidence(verification, due, sets, status))];
    const incomplete = evidence.find(({ records, passed }) => records && !passed);
    if (incomplete) {
      const text = `${incomplete.records?.dataType}: ${incomplete.detail}`;
      return failed(due, 'incomplete', text, evidence, incomplete);
    }
    call = 'read-sync';
    const { value: settings } = await service.syncSettings(due.companyId, { signal });
    return moved(due, evidence, syncScheduleOf(settings, status));
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const consequence = consequenceOf(call, error.toFailure());
    if (consequence.action === 'fail' && isGone(error) && !due.existedBefore) {
      const isLost = await isCompanyGone(service, due.companyId, { signal }).catch(() => null);
      if (isLost === null) return { outcome: checkLater(due), stop: null, deferredBy: deferralOf(error) };
      if (isLost) return companyGone(due, error);
    }
    switch (consequence.action) {
      case 'fail':
      case 'fail-and-stop':
        return failed(due, consequence.kind, error.message, evidence, { correlationId: error.correlationId });
      case 'stop':
        return { outcome: checkLater(due), stop: consequence.reason };
      case 'retry':
        return { outcome: checkLater(due, consequence.afterMs), stop: null, deferredBy: deferralOf(error) };
      case 'read-connection':
        return { outcome: checkLater(due), stop: null };
      case 'poll-again':
      case 'skip-data-set':
        return stillSyncing(verification, due, error.message);
    }
  }
}

function deferralOf(error: CompanyDataError): Deferral {
  return { why: error.message, source: sourceOf(error.toFailure()) };
}

/**
 * No data set has been queued. This is normal immediately after the request to start the syncs. If it lasts, a proxy
 * has probably answered the request instead of the service. The request is then sent again; running syncs are not
 * affected.
 */
const NOT_STARTED = 'no sync has started';

/**
 * Returns the data sets that are still syncing, as text; `NOT_STARTED` if no data set has been queued; null if every
 * data set is complete or has failed.
 */
function dataSetsInSync({ running }: DataSets, status: DataStatus): string | null {
  const offered = Object.values(status).filter(({ currentStatus }) => currentStatus !== 'NotSupported');
  const hasBegun = offered.some(({ currentStatus }) => currentStatus !== 'Initial');
  const offersNothing = offered.length === 0 && Object.keys(status).length > 0;
  if (!hasBegun && !offersNothing) return NOT_STARTED;
  return running.length > 0 ? running.join(', ') : null;
}

/** Returns the evidence for complete data sets. Data sets whose records were counted come last. */
async function dataSetEvidence(
  verification: Verification,
  due: DueCompany,
  { complete }: DataSets,
  status: DataStatus,
): Promise<readonly Evidence[]> {
  const { countEveryDataSet } = verification;
  const toCount = complete.filter((dataType) => countEveryDataSet || dataType === 'invoices');
  const synced = complete.filter((dataType) => !toCount.includes(dataType)).map((name) => syncEvidence(name, true));
  const durations = countEveryDataSet ? await syncDurations(verification, due, status) : new Map<string, number>();
  const records: Evidence[] = [];
  for (const dataType of toCount) {
    const evidence = await countEvidence(verification, due, dataType);
    const durationMs = durations.get(dataType);
    if (evidence) records.push(durationMs === undefined ? evidence : { ...evidence, durationMs });
  }
  return [...synced, ...records];
}

/**
 * Counts the records of a data set. Returns undefined if the platform does not have the data set. The service sometimes
 * reports this only when the data set is read.
 */
async function countEvidence(
  { service, signal }: Verification,
  due: DueCompany,
  dataType: string,
): Promise<Evidence | undefined> {
  // The manifest contains an expected number only for invoices.
  const expected = dataType === 'invoices' ? due.expectedInvoices : null;
  try {
    const { value: found, ...answer } = await service.countRecords(due.companyId, dataType, { signal });
    return recordEvidence({ dataType, expected, found }, answer);
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    if (consequenceOf('read-records', error.toFailure()).action !== 'skip-data-set') throw error;
    return undefined;
  }
}

/** Returns how long the latest successful sync of each data set took, in milliseconds. */
async function syncDurations(
  { service, signal }: Verification,
  due: DueCompany,
  status: DataStatus,
): Promise<ReadonlyMap<string, number>> {
  const latest = new Set(Object.values(status).map(({ latestSuccessfulSyncId }) => latestSuccessfulSyncId));
  const durations = new Map<string, number>();
  for await (const { id, dataType, requested, completed } of service.syncHistory(due.companyId, { signal })) {
    if (!latest.has(id) || completed === undefined) continue;
    const durationMs = Date.parse(completed) - Date.parse(requested);
    if (durationMs >= 0) durations.set(dataType, durationMs);
  }
  return durations;
}

function reauthorizationRequired(
  due: DueCompany,
  connection: Connection,
  evidence: readonly Evidence[],
): VerificationResult {
  const consequence = consequenceOfLinkError(activeError(connection)?.statusText);
  // Only the end customer can renew the consent, regardless of the error, because the connection was linked before.
  const stop = consequence.action === 'stop' ? consequence.reason : null;
  const found = { correlationId: evidence.at(-1)?.correlationId, linkUrl: connection.linkUrl };
  return { ...failed(due, 'reauthorization-required', linkProblemOf(connection), evidence, found), stop };
}

/**
 * Fails a company that the service has lost together with its grant. A new credential is needed, because the old
 * credential has been used.
 */
function companyGone(due: DueCompany, { correlationId }: CompanyDataError): VerificationResult {
  return failed(due, 'credential-unreadable', COMPANY_GONE, [], { correlationId, isGone: true });
}

function wrongOrganization(due: DueCompany, connection: Connection, evidence: readonly Evidence[]): VerificationResult {
  const text = wrongOrganizationText(connection, due.organization);
  const result = failed(due, 'wrong-organization', text, evidence, { linkUrl: connection.linkUrl });
  // The import has already checked the organization of an accepted credential. When an end customer reconnects, the
  // ledger clears `accepted`. If `accepted` is null, the end customer has probably connected the wrong organization.
  // Other companies are not affected, so the run continues.
  if (due.accepted !== null) return { ...result, stop: 'wrong-organization' };
  const reconnected = `${text}; the end customer has probably connected the wrong organization, so the service now holds the connection of another organization under this reference: send the link to the end customer again`;
  return { ...result, outcome: { ...result.outcome, text: reconnected } };
}

function stillSyncing({ syncTimeoutMs }: Verification, due: DueCompany, running: string): VerificationResult {
  if (due.syncingForMs > syncTimeoutMs) {
    const timeout = hoursText(syncTimeoutMs / 3_600_000);
    return failed(due, 'sync-timed-out', `not complete after ${timeout}: ${running}`, []);
  }
  return { outcome: checkLater(due), stop: null };
}

/** @param afterMs how long the service asks us to wait, in milliseconds; undefined if it does not say */
function checkLater(due: DueCompany, afterMs?: number): Extract<CheckOutcome, { to: 'syncing' }> {
  const jitter = 0.8 + 0.4 * Math.random();
  return { row: due.row, to: 'syncing', nextCheckInMs: afterMs ?? pollDelayMs(due.syncingForMs) * jitter };
}

function moved(due: DueCompany, evidence: readonly Evidence[], schedule: SyncSchedule): VerificationResult {
  return { outcome: { row: due.row, to: 'moved', evidence, schedule }, stop: null };
}

function failed(
  due: DueCompany,
  failure: FailureKind,
  text: string,
  evidence: readonly Evidence[],
  found: { correlationId?: string | undefined; linkUrl?: string | undefined; isGone?: true } = {},
): VerificationResult & { readonly outcome: Extract<CheckOutcome, { to: 'failed' }> } {
  return {
    outcome: {
      row: due.row,
      to: 'failed',
      failure,
      text: `${failureText(failure)} (${text})`,
      evidence,
      ...(found.correlationId === undefined ? {} : { correlationId: found.correlationId }),
      ...(found.linkUrl === undefined ? {} : { linkUrl: found.linkUrl }),
      ...(found.isGone && { isGone: true }),
    },
    stop: null,
  };
}
