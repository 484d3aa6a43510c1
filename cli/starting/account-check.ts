/** What account, platform and other migrations have against a manifest: asked before there is a migration. */
import type { CompanyDataClient, FoundConnection } from '../../company-data-client';
import { CompanyDataError, readServiceFacts } from '../../company-data-client';
import type { Config } from '../../config';
import { loadConfig } from '../../config';
import type { Estimate, KnownSpeed } from '../../domain/planning/estimate';
import { ASSUMED_SPEED, estimate, volumeOf } from '../../domain/planning/estimate';
import type { LimitsChange } from '../../domain/planning/limits';
import { DEFAULT_LIMITS } from '../../domain/planning/limits';
import type { Finding } from '../../domain/companies/finding';
import type { Platform, Route } from '../../platforms/platforms';
import type { PreflightFacts } from '../../domain/preflight/preflight';
import { preflight } from '../../domain/preflight/preflight';
import type { OrganizationConflicts } from '../../domain/preflight/organization-conflicts';
import { organizationFindings } from '../../domain/preflight/organization-conflicts';
import type { Database } from '../../store';
import { DatabaseUnavailable, findOpenElsewhere, openDatabase, readMigration, readSpeed } from '../../store';
import type { Manifest } from '../manifest';
import { usingService } from '../shared/with-service';

/** Who was asked beside the files themselves. */
type Asked = 'account' | 'other migrations';

export interface AccountCheck {
  /** Whether anybody could be asked at all. */
  readonly isConfigured: boolean;
  readonly asked: readonly Asked[];
  /** As if it were started now. */
  readonly estimate: Estimate;
}

/** What is known of the migration that is to be. */
export interface CheckedPlan {
  readonly platform: Platform;
  /** Absent: managed, where the platform has that route. */
  readonly route?: Route;
  readonly migrationId?: string;
  readonly limits?: LimitsChange;
  /** Of all companies together, where their rows do not say. */
  readonly recordsInTotal?: number;
}

/** The route that connections of a platform take unless somebody says otherwise. */
export function routeOf({ routes }: Platform): Route {
  return routes.includes('managed') ? 'managed' : 'self-service';
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Asks whatever is configured, or runs here: the service about the account, the ledger about other migrations. Nothing
 * is written. What is found comes to the findings of the manifest: that about a company with its place in the file, and
 * what does not answer as a warning.
 */
export async function checkAccount(
  env: NodeJS.ProcessEnv,
  { platform, route = routeOf(platform), migrationId, limits = {}, recordsInTotal }: CheckedPlan,
  file: string,
  manifest: Manifest,
): Promise<AccountCheck> {
  const config = loadConfig([], env, ['service', 'databaseUrl']);
  const { findings, totals } = manifest;
  const [service, ledger] = await Promise.all([
    askService(config.service, platform, manifest),
    askLedger(config.databaseUrl, platform, manifest, migrationId ?? null),
  ]);
  const whole = estimate({
    volume: volumeOf(totals, recordsInTotal),
    limits: { ...DEFAULT_LIMITS, ...limits },
    known: ledger.speed,
    from: new Date().toISOString(),
  });
  const toCreate = totals.companies - totals.named;
  const endsBy = whole.ends?.latest ?? null;
  const ofAccount = preflight({ route, platform, isStarted: false, toCreate, service: service.facts, endsBy });
  for (const finding of [...service.findings, ...ledger.findings, ...ofAccount]) findings.add(finding);
  const taken: OrganizationConflicts = { connected: service.connected, openElsewhere: ledger.openElsewhere };
  if (taken.connected.size + taken.openElsewhere.size > 0) {
    for await (const { company, place } of manifest.placedRows) {
      for (const { about: _, ...finding } of organizationFindings(company, platform, taken)) {
        findings.add({ ...finding, file, ...place });
      }
    }
  }
  return {
    isConfigured: config.service !== undefined || config.databaseUrl !== undefined,
    asked: [
      ...(service.facts === null ? [] : ['account' as const]),
      ...(ledger.answered ? ['other migrations' as const] : []),
    ],
    estimate: whole,
  };
}

interface ServiceAnswer {
  readonly connected: OrganizationConflicts['connected'];
  readonly facts: PreflightFacts['service'];
  readonly findings: readonly Finding[];
}

async function askService(
  config: Config<'service'>['service'] | undefined,
  platform: Platform,
  { hasOrganization }: Manifest,
): Promise<ServiceAnswer> {
  const silent = { facts: null, connected: new Map<never, never>() };
  if (!config) return { ...silent, findings: [] };
  const question = {
    platformKey: platform.key,
    selectRelevant: async (found: readonly FoundConnection[]) =>
      found.filter(({ organization }) => hasOrganization(organization)),
  };
  try {
    const facts = await usingService(config, (service: CompanyDataClient) => readServiceFacts(service, question));
    return { facts, connected: 'refused' in facts ? silent.connected : facts.connected, findings: [] };
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    return { ...silent, findings: [notAsked('the account', error, `look at the service at ${config.url}`)] };
  }
}

interface LedgerAnswer {
  readonly answered: boolean;
  readonly openElsewhere: OrganizationConflicts['openElsewhere'];
  readonly speed: KnownSpeed;
  readonly findings: readonly Finding[];
}

async function askLedger(
  url: Config<'databaseUrl'>['databaseUrl'] | undefined,
  platform: Platform,
  { rows }: Manifest,
  migrationId: string | null,
): Promise<LedgerAnswer> {
  const silent = { answered: false, openElsewhere: new Map<string, string>(), speed: ASSUMED_SPEED };
  if (!url) return { ...silent, findings: [] };
  let db: Database | undefined;
  try {
    db = await openDatabase({ url: url.reveal(), connections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS });
    return {
      answered: true,
      openElsewhere: await findOpenElsewhere(db, platform.key, rows, migrationId),
      speed: (await readSpeed(db, platform.key)) ?? ASSUMED_SPEED,
      findings: await existing(db, migrationId),
    };
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    return { ...silent, findings: [notAsked('other migrations', error, 'look at the database')] };
  } finally {
    await db?.destroy();
  }
}

/** An id names one migration for ever. */
async function existing(db: Database, migrationId: string | null): Promise<readonly Finding[]> {
  const migration = migrationId === null ? undefined : await readMigration(db, migrationId);
  if (!migration || migration.state === 'supplied') return [];
  const message = `there is a migration ${migrationId} already`;
  return [{ code: 'migration-exists', severity: 'error', message, advice: 'give this one another --label' }];
}

function notAsked(what: Asked | 'the account', error: Error, advice: string): Finding {
  return {
    code: 'not-asked',
    severity: 'warning',
    message: `${what} could not be looked at: ${error.message}`,
    advice,
  };
}
