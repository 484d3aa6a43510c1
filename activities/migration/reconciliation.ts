/**
 * The activity of `ferry reconcile`: it repairs a ledger that was restored to an older state.
 *
 * The service knows the true outcome, so all its companies are read. No credential is sent: a company whose
 * connection is linked becomes `syncing`, and a credential that the platform has refused is not sent again.
 */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CompanyDataClient, Connection } from '../../company-data-client';
import { consequenceOfLinkError } from '../../domain/companies/failures';
import type {
  CompanyRepairs,
  ReconciliationResult,
  RefusedDecision,
  RestoredDecision,
} from '../../domain/migration/reconciliation';
import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type { RecordedCompany, Repair } from '../../store';
import { clearLedgerFlag, flagLedger, readMigration, readRecordedCompanies, writeRepairs } from '../../store';
import { activeError, companiesOfMigration, isGone, organizationOf } from '../companies/service-refs';
import type { ActivityDeps } from '../deps';
import { restoreDecision } from './decisions';
import { updateWindowOccurrence } from './windows';

interface MigrationRef {
  readonly migrationId: string;
}

export function reconciliationActivities(deps: ActivityDeps) {
  const { db, workflowRecords } = deps;
  return {
    /**
     * Repairs a ledger from the service and from Temporal. No company can be claimed meanwhile. Can be repeated.
     *
     * One activity does everything, because anyone who may write to the Temporal namespace can call activities:
     * claims must not be allowed again without the repair.
     */
    async reconcileLedger({ migrationId }: MigrationRef): Promise<ReconciliationResult> {
      await flagLedger(db, migrationId);
      const { workflow, ledgerMark } = await workflowRecords.statusOf(migrationId);
      // Companies are compared first, because some decisions require moved companies, and again afterwards,
      // because a decision can set companies to `waiting`.
      const before = await reconcileCompanies(deps, migrationId);
      const decisions = await restoreDecisions(deps, migrationId);
      const after = await reconcileCompanies(deps, migrationId);
      await clearLedgerFlag(db, migrationId, ledgerMark);
      return { workflow, ...decisions, ...combined(before, after) };
    },
  };
}

/** Applies and records again the decisions that Temporal has and the ledger has lost, oldest first. */
async function restoreDecisions(
  deps: ActivityDeps,
  migrationId: string,
): Promise<Pick<ReconciliationResult, 'decisions' | 'refused'>> {
  const { db, workflowRecords } = deps;
  const decisions: RestoredDecision[] = [];
  const refused: RefusedDecision[] = [];
  for (const record of await workflowRecords.decisionsOf(migrationId)) {
    heartbeat();
    const { decision } = record;
    const outcome = await db.transaction().execute((tx) => restoreDecision(tx, migrationId, record));
    if (!outcome) continue;
    const { decisionId, kind, by } = decision;
    const restored = { decisionId, kind, by, at: outcome.at };
    if (record.outcome.applied && !outcome.applied) refused.push({ ...restored, why: outcome.text });
    else decisions.push(restored);
    if (outcome.applied && decision.kind === 'adjust' && decision.limits.windows)
      await updateWindowOccurrence(deps, migrationId);
  }
  return { decisions, refused };
}

/** Compares every company with the service, and repairs the rows that disagree. */
async function reconcileCompanies({ db, service }: ActivityDeps, migrationId: string): Promise<CompanyRepairs> {
  const platform = findPlatform((await readMigration(db, migrationId))?.platformKey ?? '');
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger, or its platform is unknown`);
  const { found, doubled } = await readService(service, migrationId, platform);
  const done: Record<Kind, string[]> = { linked: [], notMoved: [], unknown: [], adopted: [], gone: [] };
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
    ...{ adopted: union('adopted'), gone: union('gone'), doubled: after.doubled },
  };
}

type Kind = Exclude<keyof CompanyRepairs, 'doubled'>;

interface Finding {
  readonly kind: Kind;
  readonly change: Omit<Repair, 'row' | 'from'>;
}

/** Lists the companies of a migration. If a row has several, keeps one whose connection is linked. */
async function readService(service: CompanyDataClient, migrationId: string, platform: Platform) {
  const found = new Map<number, CompanyAtService>();
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
interface CompanyAtService {
  readonly id: string;
  readonly name: string;
  readonly statuses: readonly string[];
}

/** Reads the connection of a company that must be repaired; the linked one if there are several. */
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
  text: 'the service no longer has the grant, so it was probably restored to an older state; the end customer has to reconnect',
} as const;
const ADOPTED = { kind: 'adopted', change: { to: 'waiting' } } as const;
const USE_UNKNOWN =
  'the ledger was restored to an older state, and the service has a connection that is not linked; tokens of this platform can be used only once';
const LOST = {
  to: 'failed',
  failure: 'credential-unreadable',
  text: 'the service no longer has this company, so it was probably restored to an older state; supply a new credential',
  isGone: true,
} as const;

/** Compares a company with the service. Returns undefined if the ledger agrees. */
async function findingFor(
  service: CompanyDataClient,
  company: RecordedCompany,
  atService: CompanyAtService | undefined,
  platform: Platform,
): Promise<Finding | undefined> {
  if (!atService) return (await isLost(service, company)) ? { kind: 'gone', change: LOST } : undefined;
  const { id: companyId, name: storedName, statuses } = atService;
  const { state, tries } = company;
  const wasHandedOver = state === 'syncing' || state === 'moved';
  // `Deauthorized`: the grant was withdrawn after the move. `PendingAuth`: the service has no grant.
  const isLacking = wasHandedOver && statuses.every((status) => status === 'PendingAuth');
  const isOpen = state === 'waiting' || state === 'importing' || state === 'outcome-unknown';
  if (!isLacking && !isOpen) return undefined;
  const connection = await readConnection(service, companyId, platform.key);
  const finding = isLacking
    ? { kind: 'notMoved' as const, change: GRANT_LOST }
    : connection
      ? handedOver(company, connection, platform)
      : // Without a connection, its credential has not been used.
        state === 'waiting' && tries === 0 && ADOPTED;
  if (!finding) return undefined;
  const ids = connection && {
    connectionId: connection.id,
    ...(connection.linkUrl !== undefined && { linkUrl: connection.linkUrl }),
  };
  return { kind: finding.kind, change: { companyId, storedName, ...ids, ...finding.change } };
}

function handedOver(company: RecordedCompany, connection: Connection, platform: Platform): Finding | undefined {
  const { state, tries, supersedes, suppliedAt } = company;
  if (connection.status === 'Linked') {
    // An older credential might have linked it. The next attempt finds out: a repeat does not use the credential.
    if (supersedes && state === 'waiting') return undefined;
    const organization = organizationOf(connection);
    if (organization === undefined || organization === company.organization) {
      return { kind: 'linked', change: { to: 'syncing' } };
    }
    const text = `the platform reports organization ${organization}, but the manifest says ${company.organization}`;
    return { kind: 'notMoved', change: { to: 'failed', failure: 'wrong-organization', text } };
  }
  const error = activeError(connection);
  const consequence = error && consequenceOfLinkError(error.statusText);
  // An error from before the credential was stored concerns an older one.
  const isAboutCredential = Date.parse(error?.erroredOnUtc ?? '') >= (suppliedAt?.getTime() ?? 0);
  if (isAboutCredential && (consequence?.action === 'fail' || consequence?.action === 'fail-and-stop')) {
    const text = error?.errorMessage ?? `the connection is ${connection.status}`;
    return { kind: 'notMoved', change: { to: 'failed', failure: consequence.kind, text } };
  }
  if (state !== 'waiting' || tries > 0) return undefined;
  return !error && platform.rotation === 'each-refresh'
    ? { kind: 'unknown', change: { to: 'outcome-unknown', text: USE_UNKNOWN } }
    : ADOPTED;
}

/** Returns whether the service no longer has a company that was handed over. Asks again, because tags can be changed. */
async function isLost(service: CompanyDataClient, company: RecordedCompany): Promise<boolean> {
  const { state, companyId } = company;
  if (companyId === null || (state !== 'syncing' && state !== 'moved')) return false;
  if (company.existedBefore) return false;
  try {
    await service.getCompany(companyId, { signal: cancellationSignal() });
    return false;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}
