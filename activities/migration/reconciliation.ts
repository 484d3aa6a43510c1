/**
 * The activity behind `ferry reconcile`. It repairs a ledger that was restored to an older state.
 *
 * The service knows what really happened to each company, so every company that it has for the migration is read. No
 * credential is sent. A company whose connection is linked becomes `syncing`, and a company whose credential the
 * platform has refused becomes `failed`, so neither credential is sent again.
 */
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { CompanyDataError, type CompanyDataClient, type Connection } from '../../company-data-client';
import { consequenceOf, consequenceOfLinkError } from '../../domain/companies/failures';
import type { CompanyRepairs, ReconciliationResult } from '../../domain/migration/reconciliation';
import type { Platform } from '../../platforms/platforms';
import {
  checkLedgerMark,
  clearLedgerFlag,
  flagForReconciliation,
  flagLedger,
  resendUnknownOutcomes,
  readLedgerStatus,
  readRecordedCompanies,
  writeRepairs,
  type RecordedCompany,
  type Repair,
} from '../../store';
import { findLostTries } from '../companies/ledger-comparison';
import {
  activeError,
  authorizedAtOf,
  companiesOfMigration,
  hasRightOrganization,
  linkProblemOf,
  wrongOrganizationText,
} from '../companies/service-refs';
import { platformOf } from '../companies/slice';
import type { ActivityDeps, MigrationRef } from '../deps';
import { findLostCompany } from './lost-companies';
import { restoreDecisions } from './lost-decisions';

export function reconciliationActivities(deps: ActivityDeps) {
  const { db, workflowRecords } = deps;
  return {
    /**
     * Repairs a ledger from the service and from Temporal. No company can be claimed in the meantime. Can be repeated.
     *
     * One activity does everything, because anyone who may write to the Temporal namespace can call activities. If a
     * separate activity allowed claims again, anyone could call it without the repair.
     */
    async reconcileLedger({ migrationId }: MigrationRef): Promise<ReconciliationResult> {
      await flagForReconciliation(db, migrationId);
      const { workflow, ledgerMark } = await workflowRecords.stateAndMarkOf(migrationId);
      const isBehind = await isProvenBehind(deps, migrationId, ledgerMark);
      // Companies are compared first, because some decisions require moved companies, and again afterwards, because a
      // decision can set companies to `waiting`.
      const before = await reconcileCompanies(deps, migrationId);
      const decisions = await restoreDecisions(deps, migrationId, isBehind);
      const after = await reconcileCompanies(deps, migrationId);
      const repairs = combined(before, after);
      // Comes after the decisions are restored, because a restored decision can skip companies with an unknown outcome.
      const unknown = repairs.unknown.filter((reference) => !repairs.doubled.includes(reference));
      const interrupted = await resendUnknownOutcomes(db, migrationId, unknown, deps.leaseMs);
      await clearLedgerFlag(db, migrationId, ledgerMark);
      const left = repairs.unknown.filter((reference) => !interrupted.includes(reference));
      const isIncomplete = activityInfo().attempt > 1 && ({ isIncomplete: true } as const);
      return { workflow, ...decisions, ...repairs, unknown: left, interrupted, ...isIncomplete };
    },
  };
}

/**
 * Returns whether the workflow's mark or the service shows that the ledger is behind. Must be called before companies
 * are repaired. A positive result is stored in the ledger, so that a second attempt returns it again.
 */
async function isProvenBehind(
  { db, service }: ActivityDeps,
  migrationId: string,
  workflowMark: number,
): Promise<boolean> {
  if ((await checkLedgerMark(db, migrationId, workflowMark)).isProvenBehind) return true;
  if ((await findLostTries(db, service, migrationId)).length > 0) await flagLedger(db, migrationId);
  return (await readLedgerStatus(db, migrationId)).isProvenBehind;
}

/** Compares every company with the service, and repairs the rows that disagree. */
async function reconcileCompanies({ db, service }: ActivityDeps, migrationId: string): Promise<CompanyRepairs> {
  const platform = await platformOf(db, migrationId);
  const { found, doubled } = await readService(service, migrationId, platform);
  const done: Record<Kind, string[]> = { linked: [], notMoved: [], unknown: [], adopted: [], gone: [], toCreate: [] };
  const doubledReferences: string[] = [];
  for await (const page of readRecordedCompanies(db, migrationId)) {
    heartbeat();
    const repairs: Repair[] = [];
    for (const company of page) {
      if (doubled.has(company.row)) doubledReferences.push(company.reference);
      const finding = await findingFor(service, company, found.get(company.row), platform);
      if (!finding) continue;
      heartbeat();
      done[finding.kind].push(company.reference);
      repairs.push({ row: company.row, from: company.state, ...finding.change });
    }
    await writeRepairs(db, migrationId, repairs);
  }
  return { ...done, doubled: doubledReferences };
}

function combined(before: CompanyRepairs, after: CompanyRepairs): CompanyRepairs {
  const union = (kind: keyof CompanyRepairs) => [...new Set([...before[kind], ...after[kind]])];
  return {
    ...{ linked: union('linked'), notMoved: union('notMoved'), unknown: union('unknown') },
    ...{ adopted: union('adopted'), gone: union('gone'), toCreate: union('toCreate'), doubled: after.doubled },
  };
}

type Kind = Exclude<keyof CompanyRepairs, 'doubled'>;

interface Finding {
  readonly kind: Kind;
  readonly change: Omit<Repair, 'row' | 'from'>;
}

/**
 * Lists the companies of a migration at the service. If a row has several companies, keeps a company with a linked
 * connection if there is one, and otherwise the last company.
 */
async function readService(service: CompanyDataClient, migrationId: string, platform: Platform) {
  const found = new Map<number, ListedCompany>();
  const doubled = new Set<number>();
  for await (const { row, company } of companiesOfMigration(service, migrationId, { signal: cancellationSignal() })) {
    heartbeat();
    const { id, name, dataConnections = [] } = company;
    const connections = dataConnections.filter(({ integrationKey }) => integrationKey === platform.key);
    const known = found.get(row);
    if (known) doubled.add(row);
    if (known?.statuses.includes('Linked')) continue;
    found.set(row, { id, name, statuses: connections.map(({ status = 'Unlinked' }) => status) });
  }
  return { found, doubled };
}

/** A company at the service, with the statuses of its connections to the platform. */
interface ListedCompany {
  readonly id: string;
  readonly name: string;
  readonly statuses: readonly string[];
}

/** Reads a company's connection to the platform; if there are several, a linked connection or else the last. */
async function readConnection(service: CompanyDataClient, companyId: string, platformKey: string) {
  let latest: Connection | undefined;
  for await (const connection of service.connections(companyId, { signal: cancellationSignal() })) {
    if (connection.integrationKey !== platformKey) continue;
    latest = connection;
    if (connection.status === 'Linked') break;
  }
  return latest;
}

const GRANT_LOST = {
  to: 'failed',
  failure: 'reauthorization-required',
  text: 'the service no longer has access to the organization, probably because the service was restored to an older state; the end customer must reconnect',
} as const;
const ADOPTED = { kind: 'adopted', change: { to: 'waiting' } } as const;
const USE_UNKNOWN =
  'it is unknown whether the single-use token was used, because the ledger was restored to an older state and the connection at the service is not linked';

/** Compares a company with the service. Returns undefined if nothing needs to be repaired. */
async function findingFor(
  service: CompanyDataClient,
  company: RecordedCompany,
  atService: ListedCompany | undefined,
  platform: Platform,
): Promise<Finding | undefined> {
  if (!atService) return findLostCompany(service, company, cancellationSignal());
  const { id: companyId, name: storedName, statuses } = atService;
  const { state, tries } = company;
  const wasHandedOver = state === 'syncing' || state === 'moved';
  // `PendingAuth`: the service has no grant. `Deauthorized` needs no repair: the grant was withdrawn after the move.
  const lacksGrant = wasHandedOver && statuses.every((status) => status === 'PendingAuth');
  const isOpen = state === 'waiting' || state === 'importing' || state === 'outcome-unknown';
  if (!lacksGrant && !isOpen) return undefined;
  const connection = await readConnection(service, companyId, platform.key);
  // The companies were listed earlier. This company may have been linked since then.
  const isLinkedSince = lacksGrant && connection && connection.status !== 'PendingAuth';
  if (isLinkedSince) return undefined;
  const found = lacksGrant
    ? { kind: 'notMoved' as const, change: GRANT_LOST }
    : connection
      ? findingFromConnection(company, connection, platform)
      : // Without a connection, the company's credential has not been used.
        state === 'waiting' && tries === 0 && ADOPTED;
  if (!found) return undefined;
  const finding = found.kind === 'linked' ? await withSyncStarted(service, companyId, found) : found;
  const authorizedAt = connection?.status === 'Linked' ? authorizedAtOf(connection) : null;
  const ids = connection && {
    connectionId: connection.id,
    ...(authorizedAt !== null && { authorizedAt }),
    ...(connection.linkUrl !== undefined && { linkUrl: connection.linkUrl }),
  };
  return { kind: finding.kind, change: { companyId, storedName, ...ids, ...finding.change } };
}

function findingFromConnection(
  company: RecordedCompany,
  connection: Connection,
  platform: Platform,
): Finding | undefined {
  const { state, tries, supersedes, suppliedAt } = company;
  if (connection.status === 'Linked') {
    // An older credential might have linked the connection. The next attempt finds out by sending the new credential:
    // if the service has already accepted that credential, it answers without using it again.
    if (supersedes && state === 'waiting') return undefined;
    if (hasRightOrganization(connection, company.organization)) return { kind: 'linked', change: { to: 'syncing' } };
    const text = wrongOrganizationText(connection, company.organization);
    return { kind: 'notMoved', change: { to: 'failed', failure: 'wrong-organization', text } };
  }
  const error = activeError(connection);
  const consequence = error && consequenceOfLinkError(error.statusText);
  // An error from before the credential was stored concerns an older credential.
  const isAboutCredential = Date.parse(error?.erroredOnUtc ?? '') >= (suppliedAt?.getTime() ?? 0);
  if (isAboutCredential && (consequence?.action === 'fail' || consequence?.action === 'fail-and-stop')) {
    const change = { to: 'failed', failure: consequence.kind, text: linkProblemOf(connection) } as const;
    return { kind: 'notMoved', change };
  }
  if (state !== 'waiting' || tries > 0) return undefined;
  return !error && platform.rotation === 'each-refresh'
    ? { kind: 'unknown', change: { to: 'outcome-unknown', text: USE_UNKNOWN } }
    : ADOPTED;
}

/**
 * Starts the syncs of a linked company, because its attempt may have died before starting them. Syncs that are already
 * running are not affected.
 *
 * @returns the same finding, or a `notMoved` finding if the service refuses to start the syncs
 */
async function withSyncStarted(service: CompanyDataClient, companyId: string, linked: Finding): Promise<Finding> {
  try {
    await service.startSync(companyId, { signal: cancellationSignal() });
    return linked;
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const consequence = consequenceOf('start-sync', error.toFailure());
    if (consequence.action !== 'fail') throw error;
    return { kind: 'notMoved', change: { to: 'failed', failure: consequence.kind, text: error.message } };
  }
}
