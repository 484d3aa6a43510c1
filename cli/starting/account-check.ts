/** Checks a manifest against the account, the platform and other migrations before a migration is started. */
import {
  CompanyDataError,
  DeferredUntil,
  readServiceFacts,
  type CompanyDataClient,
  type FoundConnection,
} from '../../company-data-client';
import { loadConfig, type Config } from '../../config';
import { ASSUMED_SPEED, estimate, volumeOf, type Estimate, type SpeedEstimate } from '../../domain/planning/estimate';
import { DEFAULT_LIMITS, type LimitsChange } from '../../domain/planning/limits';
import type { Finding } from '../../domain/companies/finding';
import type { Platform, Route } from '../../platforms/platforms';
import type { Dependents } from '../../domain/preflight/dependents';
import { isApplicationNeeded, preflight, type PreflightFacts } from '../../domain/preflight/preflight';
import { organizationFindings, type OrganizationConflicts } from '../../domain/preflight/organization-conflicts';
import {
  DatabaseUnavailable,
  LedgerMissing,
  findOpenOrganizations,
  openDatabase,
  readDependentCompanies,
  readMigration,
  readSpeed,
  type Database,
} from '../../store';
import type { Manifest } from '../manifest';
import { AFTER_THIS_TIME } from '../shared/errors';
import { missingLedgerAdvice } from '../suggestions/stack-advice';
import { withServiceAt } from '../connections/service-client';

/** The sources that can be checked in addition to the files. */
export const CHECKED_SOURCES = ['account', 'other migrations'] as const;
type CheckedSource = (typeof CHECKED_SOURCES)[number];

export interface AccountCheck {
  /** The sources that could not be asked, because their servers are not configured. */
  readonly notConfigured: readonly CheckedSource[];
  readonly asked: readonly CheckedSource[];
  /** True if the dependents of the registered application were not checked, because the client is not known. */
  readonly areDependentsUnchecked: boolean;
  /** The estimate for a migration that starts now. */
  readonly estimate: Estimate;
}

/** The planned migration. */
export interface CheckedPlan {
  readonly platform: Platform;
  /** Default: {@link defaultRoute}. */
  readonly route?: Route;
  readonly migrationId?: string;
  readonly limits?: LimitsChange;
  /** The total expected records of all companies, if the rows do not contain them. */
  readonly recordsInTotal?: number | undefined;
}

/** Returns `managed` if the platform has that route, otherwise `self-service`. */
export function defaultRoute({ routes }: Platform): Route {
  return routes.includes('managed') ? 'managed' : 'self-service';
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Reads the account from the service, and other migrations from the ledger. Leaves out the service or the ledger if it
 * is neither configured nor running on this machine. Changes nothing in them, except that opening the ledger can update
 * its schema. Adds its findings to the findings of the manifest. A finding about a company includes its place in the
 * file. A server that does not answer causes a warning.
 */
export async function checkAccount(
  env: NodeJS.ProcessEnv,
  { platform, route = defaultRoute(platform), migrationId, limits = {}, recordsInTotal }: CheckedPlan,
  file: string,
  manifest: Manifest,
): Promise<AccountCheck> {
  // Only a migration that is about to start needs Temporal. `ferry check` must work without it, and ignores a profile
  // of Temporal that cannot be read.
  const config = loadConfig([], env, [
    'service',
    'databaseUrl',
    ...(migrationId === undefined ? [] : ['temporal' as const]),
  ]);
  const { findings, totals } = manifest;
  const [service, ledger] = await Promise.all([
    askAccount(config.service, platform, manifest),
    askLedger(env, config, platform, manifest, migrationId ?? null),
  ]);
  const total = estimate({
    volume: volumeOf(totals, recordsInTotal),
    limits: { ...DEFAULT_LIMITS, ...limits },
    speedEstimate: ledger.speed,
    from: new Date().toISOString(),
  });
  const toCreate = totals.companies - totals.existing;
  const endsBy = total.ends?.latest ?? null;
  const { dependents } = ledger;
  const accountFindings = preflight({
    ...{ route, platform, isStarted: false, toCreate, service: service.facts, dependents, endsBy },
  });
  for (const finding of [...service.findings, ...ledger.findings]) findings.add(finding);
  for (const { about: _about, clientMessage: _clientMessage, ...finding } of accountFindings) findings.add(finding);
  const conflicts: OrganizationConflicts = { connected: service.connected, openElsewhere: ledger.openElsewhere };
  if (conflicts.connected.size + conflicts.openElsewhere.size > 0) {
    for await (const { company, place } of manifest.placedRows) {
      for (const found of organizationFindings(company, platform, conflicts)) {
        const { about: _about, clientMessage: _clientMessage, ...finding } = found;
        findings.add({ ...finding, file, ...place });
      }
    }
  }
  return {
    notConfigured: [
      ...(config.service === undefined ? ['account' as const] : []),
      ...(config.databaseUrl === undefined ? ['other migrations' as const] : []),
    ],
    asked: [
      ...(service.facts === null ? [] : ['account' as const]),
      ...(ledger.answered ? ['other migrations' as const] : []),
    ],
    areDependentsUnchecked:
      dependents.client === null &&
      ledger.answered &&
      hasApplication(service.facts) &&
      isApplicationNeeded(route, platform),
    estimate: total,
  };
}

const hasApplication = (facts: AccountAnswer['facts']): boolean =>
  facts !== null && !('refused' in facts) && facts.application != null;

interface AccountAnswer {
  readonly connected: OrganizationConflicts['connected'];
  readonly facts: PreflightFacts['service'];
  readonly findings: readonly Finding[];
}

async function askAccount(
  config: Config<'service'>['service'] | undefined,
  platform: Platform,
  { hasOrganization }: Manifest,
): Promise<AccountAnswer> {
  const noResponse = { facts: null, connected: new Map<never, never>() };
  if (!config) return { ...noResponse, findings: [] };
  const question = {
    platformKey: platform.key,
    selectRelevant: async (found: readonly FoundConnection[]) =>
      found.filter(({ organization }) => hasOrganization(organization)),
  };
  try {
    const facts = await withServiceAt(config, (service: CompanyDataClient) => readServiceFacts(service, question));
    return { facts, connected: 'refused' in facts ? noResponse.connected : facts.connected, findings: [] };
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const advice =
      error instanceof DeferredUntil ? AFTER_THIS_TIME : `check the service at ${config.url} with: ferry doctor`;
    return { ...noResponse, findings: [notAnswered('the account', error, advice)] };
  }
}

interface LedgerAnswer {
  readonly answered: boolean;
  readonly openElsewhere: OrganizationConflicts['openElsewhere'];
  readonly dependents: Dependents;
  readonly speed: SpeedEstimate;
  readonly findings: readonly Finding[];
}

async function askLedger(
  env: NodeJS.ProcessEnv,
  { databaseUrl: url, temporal }: Partial<Config<'databaseUrl' | 'temporal'>>,
  platform: Platform,
  { rows }: Manifest,
  migrationId: string | null,
): Promise<LedgerAnswer> {
  // The id of a migration begins with its client.
  const client = migrationId?.split('.')[0] ?? null;
  const dependents: Dependents = { client, supplied: null, others: [] };
  const noResponse = { answered: false, openElsewhere: new Map<string, string>(), dependents, speed: ASSUMED_SPEED };
  if (!url) return { ...noResponse, findings: [] };
  let db: Database | undefined;
  try {
    db = await openDatabase({ url: url.reveal(), connections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS });
    return {
      answered: true,
      openElsewhere: await findOpenOrganizations(db, platform.key, rows, migrationId),
      dependents: {
        ...dependents,
        // Without a client, the companies of another client cannot be told from the client's own.
        others:
          client === null
            ? []
            : await readDependentCompanies(db, {
                ...{ platformKey: platform.key, namespace: temporal?.namespace ?? null, except: migrationId },
              }),
      },
      speed: (await readSpeed(db, platform.key)) ?? ASSUMED_SPEED,
      findings: await existingMigration(db, migrationId),
    };
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    const advice = error instanceof LedgerMissing ? missingLedgerAdvice(env) : 'check the database';
    return { ...noResponse, findings: [notAnswered('other migrations', error, advice)] };
  } finally {
    await db?.destroy();
  }
}

/**
 * Returns an error if the migration exists, because an id is never reused. A stored migration whose workflow was never
 * started is not an error.
 */
async function existingMigration(db: Database, migrationId: string | null): Promise<readonly Finding[]> {
  const migration = migrationId === null ? undefined : await readMigration(db, migrationId);
  if (!migration || migration.state === 'supplied') return [];
  const message = `migration ${migrationId} already exists`;
  return [{ code: 'migration-exists', severity: 'error', message, advice: 'choose another --label' }];
}

function notAnswered(what: CheckedSource | 'the account', error: Error, advice: string): Finding {
  return {
    code: 'not-asked',
    severity: 'warning',
    message: `${what} could not be checked: ${error.message}`,
    advice,
  };
}
