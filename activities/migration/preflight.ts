/**
 * The preflight activity. It reads facts from the ledger and the service, holds back companies in the ledger, and
 * returns the findings.
 */
import { cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import {
  CompanyDataError,
  readServiceFacts,
  type CompanyDataClient,
  type FoundConnection,
} from '../../company-data-client';
import { isOfApplication } from '../../domain/companies/finding';
import { companyFindings, familyFindings, heldBackBy } from '../../domain/preflight/company-findings';
import { checkAgainText, errorFinding, FindingSummary, type PreflightFinding } from '../../domain/preflight/findings';
import type { ApplicationSupplied } from '../../domain/migration/decision';
import { separateNames, type CheckedApplication, type Preflight } from '../../domain/migration/preflight-result';
import { findPlatform, type Platform } from '../../platforms/platforms';
import {
  isSameApplication,
  type ApplicationFacts,
  type MigrationApplications,
} from '../../domain/preflight/applications';
import { isApplicationNeeded, preflight } from '../../domain/preflight/preflight';
import { organizationFindings, type OrganizationConflicts } from '../../domain/preflight/organization-conflicts';
import {
  countCompanies,
  countPreflightRows,
  findAlreadyConnected,
  findOpenOrganizations,
  recordApplication,
  recordPreflightResults,
  recordPreflightTexts,
  readApplications,
  readDependents,
  readMigration,
  readNewApplication,
  readPreflightRows,
  type Database,
  type StoredMigration,
  type PreflightRow,
  type PreflightResult,
} from '../../store';
import { belongsToMigration } from '../companies/service-refs';
import type { ActivityDeps } from '../deps';
import { estimateBeforeMove } from './estimates';
import { registerSealedApplication } from './sealed-application';

interface PreflightInput {
  readonly migrationId: string;
  /** The agreed or proposed start in ISO 8601; null if there is none yet. */
  readonly startAt: string | null;
}

export function preflightActivities(deps: ActivityDeps) {
  const { db, service } = deps;
  return {
    /**
     * Checks the supplied details against the account, the platform and other migrations, without using a credential.
     * Companies with company-specific errors are held back; the others can be moved. The result names no other client;
     * the ledger keeps the texts that do, for support.
     */
    async preflight({ migrationId, startAt }: PreflightInput): Promise<Preflight> {
      const migration = await readMigration(db, migrationId);
      if (!migration) return uncheckable({ companies: 0, manifestDigest: null, suppliedBy: null }, NO_COMPANIES);
      const { total } = await countCompanies(db, migrationId);
      const { manifestDigest, suppliedBy, platformKey, route } = migration;
      const hasManifest = total > 0;
      const checked = {
        companies: total,
        ...(hasManifest ? { manifestDigest, suppliedBy } : { manifestDigest: null, suppliedBy: null }),
      };
      const platform = findPlatform(platformKey);
      if (!platform) {
        const advice = 'cancel the migration, and start one for a supported platform';
        return uncheckable(checked, errorFinding('no-managed-route', `platform ${platformKey} is unknown`, advice));
      }
      const notRegistered = await registerSealedApplication(deps, migration);
      await untilRegistered(service, platform.key, await readNewApplication(db, migrationId));
      const facts = await readServiceFacts(service, {
        platformKey: platform.key,
        selectRelevant: (found) => withoutOwnConnections(db, migrationId, found),
        signal: cancellationSignal(),
        onProgress: heartbeat,
      });
      const connected = 'refused' in facts ? new Map<never, never>() : facts.connected;
      const toMove = await countPreflightRows(db, migrationId);
      const endsBy = (await estimateBeforeMove(db, migrationId, startAt)).ends?.latest ?? null;
      const summary = new FindingSummary({
        errors: `to list all of these companies, run: ferry exceptions ${migrationId}`,
        warnings: (code) => checkAgainText(code, migrationId, platform.slug),
      });
      if (!hasManifest) summary.add([NO_COMPANIES]);
      const applications = await readApplications(db, migration);
      const { toCreate } = toMove;
      const registered = 'refused' in facts ? null : facts.application;
      const dependents = await readDependents(db, migration, registered ?? null, applications);
      const findings = preflight({
        ...{ route, platform, isStarted: true, toCreate, service: facts, applications, dependents, endsBy },
      });
      summary.add(notRegistered === null ? findings : [notRegistered, ...findings]);
      const application =
        'refused' in facts || !isApplicationNeeded(route, platform)
          ? undefined
          : checkedApplication(facts.application, applications);
      if (application && !findings.some(isApplicationError)) await recordApplication(db, migrationId, application);
      const heldBack = await checkEach(db, migration, platform, connected, (found) => summary.add(found));
      summary.add(familyFindings(toMove, platform));
      const callbackUrl = 'refused' in facts ? null : facts.callbackUrl;
      const { preflight: result, texts } = separateNames({
        ...{ ...checked, ...summary.sentences, heldBack, callbackUrl },
        ...(application === undefined ? {} : { application }),
      });
      await recordPreflightTexts(db, migrationId, texts);
      return result;
    },
  };
}

const isApplicationError = ({ code, severity }: PreflightFinding): boolean =>
  severity === 'error' && isOfApplication(code);

/** Returns the registered application. Its `suppliedBy` is null if it was not supplied for this migration. */
function checkedApplication(
  registered: ApplicationFacts | null | undefined,
  { supplied }: MigrationApplications,
): CheckedApplication | null | undefined {
  if (!registered) return registered;
  const { clientId, environment } = registered;
  const isOwn = supplied !== null && isSameApplication(supplied, registered);
  return { clientId, environment, suppliedBy: isOwn ? supplied.suppliedBy : null };
}

const REGISTERED_WITHIN_MS = 10_000;
const POLL_EVERY_MS = 250;

/**
 * Waits up to 10 s until the application that was just supplied is registered with the service. `ferry application`
 * registers it only after the migration has accepted the decision, which also starts this preflight.
 *
 * @param supplied null if there is nothing to wait for
 */
async function untilRegistered(
  service: CompanyDataClient,
  platformKey: string,
  supplied: ApplicationSupplied | null,
): Promise<void> {
  if (!supplied) return;
  const deadline = Date.now() + REGISTERED_WITHIN_MS;
  while (Date.now() < deadline) {
    const application = await readApplication(service, platformKey);
    if (application === undefined || (application && isSameApplication(application, supplied))) return;
    heartbeat();
    await sleep(POLL_EVERY_MS);
  }
}

/**
 * Reads the registered application. Null if none is registered; undefined if the service does not show the application
 * or the call fails. The checks that follow report the reason.
 */
async function readApplication(
  service: CompanyDataClient,
  platformKey: string,
): Promise<ApplicationFacts | null | undefined> {
  try {
    return (await service.integration(platformKey, { signal: cancellationSignal() })).value.application;
  } catch (error) {
    if (error instanceof CompanyDataError) return undefined;
    throw error;
  }
}

/** Returns the connections to the organizations to be moved, except those that this migration itself has created. */
async function withoutOwnConnections(
  db: Database,
  migrationId: string,
  found: readonly FoundConnection[],
): Promise<readonly FoundConnection[]> {
  const others = found.filter(({ company }) => !belongsToMigration(company, migrationId));
  if (others.length === 0) return [];
  return findAlreadyConnected(
    db,
    migrationId,
    others.map((each) => ({ ...each, companyId: each.company.id })),
  );
}

/**
 * Checks each waiting company, and holds back those with company-specific errors.
 *
 * @returns the number of companies held back
 */
async function checkEach(
  db: Database,
  migration: StoredMigration,
  platform: Platform,
  connected: OrganizationConflicts['connected'],
  report: (found: readonly PreflightFinding[]) => void,
): Promise<number> {
  let heldBack = 0;
  const resultOf = (company: PreflightRow, taken: OrganizationConflicts): PreflightResult => {
    const found = [...organizationFindings(company, platform, taken), ...companyFindings(company, platform)];
    report(found);
    const { row, name, organization } = company;
    return { row, name, organization, ...heldBackBy(found) };
  };
  for await (const companies of readPreflightRows(db, migration.id)) {
    const openElsewhere = await findOpenOrganizations(db, platform.key, companies, migration.id);
    const results = companies.map((company) => resultOf(company, { connected, openElsewhere }));
    heldBack += results.filter((result) => result.heldBack !== null).length;
    // Only changed results are written, because most companies stay the same.
    const changed = results.filter((result, index) => isHeldBackDifferently(result, companies[index]));
    await recordPreflightResults(db, migration, changed);
    heartbeat();
  }
  return heldBack;
}

function isHeldBackDifferently(result: PreflightResult, before: PreflightRow | undefined): boolean {
  return result.heldBack !== before?.heldBack || result.heldBackDetails !== before.heldBackDetails;
}

const NO_COMPANIES = errorFinding('no-companies', 'no manifest has been supplied yet', 'supply the manifest');

/** Returns the result of a preflight that can check nothing. */
function uncheckable(
  manifest: Pick<Preflight, 'companies' | 'manifestDigest' | 'suppliedBy'>,
  { code, message, advice }: PreflightFinding,
): Preflight {
  const none = { warnings: [], heldBack: 0, callbackUrl: null };
  return { ...manifest, problems: [message], advice: [advice], problemCodes: [code], ...none };
}
