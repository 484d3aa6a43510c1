/**
 * The preflight: checks of the account, the platform and the client's application before any credential is used.
 *
 * The caller gathers the facts: workers and `ferry go-nogo` count the companies in the ledger; before the start,
 * commands count them in a file. All use the same checks, so they report the same findings.
 */
import { inClientWords } from '../companies/client-words';
import type { Finding } from '../companies/finding';
import { momentText, counted, numberText } from '../text/sentences';
import type { Platform, Route } from '../../platforms/platforms';
import {
  applicationConflicts,
  isSameApplication,
  type ApplicationFacts,
  type MigrationApplications,
} from './applications';
import { dependentFindings, type Dependents } from './dependents';
import { errorFinding, quoted, warningFinding, type PreflightFinding } from './findings';

/** The account to which the API key belongs. */
export interface AccountFacts {
  readonly plan: string;
  /** The role of the API key. */
  readonly role: string;
  /** Null: no limit. */
  readonly companyLimit: number | null;
  readonly companiesUsed: number;
  /** ISO 8601; null if it does not expire. */
  readonly expiresAt: string | null;
}

/** Facts from the service that need no credential. */
export interface ServiceFacts {
  readonly account: AccountFacts;
  readonly platformEnabled: boolean;
  readonly callbackUrl: string | null;
  /** Null if none is registered. Absent if the service does not show it. */
  readonly application?: ApplicationFacts | null;
}

export interface PreflightFacts {
  readonly route: Route;
  /** True if the migration has started. Before the start, no application can be supplied. */
  readonly isStarted: boolean;
  readonly platform: Platform;
  /** Number of companies that will be created in the account. */
  readonly toCreate: number;
  /** `refused`: the service rejected the request. Null if the service was not asked, or did not answer. */
  readonly service: ServiceFacts | { readonly refused: string } | null;
  /** Absent if the migration has not started. */
  readonly applications?: MigrationApplications;
  /** `others` is empty if the ledger was not asked. Absent: dependents are not checked. */
  readonly dependents?: Dependents;
  /**
   * The latest time at which the last company could be moved. ISO 8601, UTC; null if there are windows and the moves in
   * them take more than a year; undefined if there is no estimate.
   */
  readonly endsBy: string | null | undefined;
  /** True if `endsBy` assumes that all open companies can move now, although it is not known when they can. */
  readonly isEndAssumed?: boolean;
  /**
   * True if there might be an estimate, but it cannot be read, because no worker answers. `endsBy` is then undefined.
   */
  readonly isEstimateUnread?: boolean;
}

/** Returns findings that concern the migration as a whole. */
export function preflight(facts: PreflightFacts): readonly PreflightFinding[] {
  const { platform, service } = facts;
  const findings: PreflightFinding[] = [];
  if (!platform.routes.includes(facts.route)) findings.push(otherRoute(facts));
  if (service === null) return findings;
  if ('refused' in service) {
    const advice = 'check COMPANY_DATA_API_KEY and the account of this key';
    const refusal = errorFinding('service-refuses', service.refused, advice);
    return [...findings, { ...refusal, clientMessage: inClientWords(service.refused) }];
  }
  return [...findings, ...accountFindings(service.account, facts), ...platformFindings(service, facts)];
}

function otherRoute({ platform: { name }, route }: PreflightFacts): PreflightFinding {
  return route === 'managed'
    ? errorFinding(
        'no-managed-route',
        `${name} has no managed route`,
        'move these connections in a self-service migration',
      )
    : errorFinding(
        'no-self-service-route',
        `${name} has only the managed route`,
        'ask support to move these connections in a managed migration',
      );
}

function lastMoveText({ endsBy, isEndAssumed = false, isEstimateUnread = false }: PreflightFacts): string {
  if (isEstimateUnread) return 'the estimate of when the last company will have moved cannot be read';
  if (endsBy === undefined) return 'there is no estimate of when the last company will have moved';
  const assumption = isEndAssumed ? 'even if all companies could move now, ' : '';
  return `${assumption}the last company could move ${endsBy === null ? 'more than a year from now' : `as late as ${momentText(endsBy)}`}`;
}

function accountFindings(
  { role, plan, companyLimit, companiesUsed, expiresAt }: AccountFacts,
  facts: PreflightFacts,
): readonly PreflightFinding[] {
  const { route, toCreate, endsBy, isEstimateUnread = false } = facts;
  const findings: PreflightFinding[] = [];
  // In the self-service route the client's own key is enough.
  if (route === 'managed' && role !== 'administrator') {
    findings.push(
      errorFinding(
        'key-not-administrator',
        "Tokenferry's API key is not an administrator key",
        'set COMPANY_DATA_API_KEY to an administrator key, also for the workers',
      ),
    );
  }
  if (companyLimit !== null && toCreate > 0 && companiesUsed + toCreate > companyLimit) {
    const room = Math.max(0, companyLimit - companiesUsed);
    findings.push(
      errorFinding(
        'no-room',
        `the account has room for ${counted(room, 'company')}, not for ${numberText(toCreate)} (limit ${numberText(companyLimit)}, plan ${plan})`,
        'choose another plan, delete companies at the service that are no longer needed, or leave companies out of the migration',
      ),
    );
  }
  if (expiresAt !== null && (endsBy == null || Date.parse(expiresAt) <= Date.parse(endsBy))) {
    findings.push(
      errorFinding(
        'account-expires',
        `the account expires at ${momentText(new Date(expiresAt).toISOString())}; ${lastMoveText(facts)}`,
        isEstimateUnread
          ? 'check this again once a worker answers'
          : 'choose a plan that does not expire. If the start is still in the future, an earlier start can also help',
      ),
    );
  }
  if (plan === 'trial') {
    findings.push(
      warningFinding(
        'account-on-trial',
        'the account is a trial account, which has no hourly syncs',
        'choose another plan before the handover',
      ),
    );
  }
  return findings;
}

function platformFindings(
  { platformEnabled, application }: ServiceFacts,
  facts: PreflightFacts,
): readonly PreflightFinding[] {
  const { platform, route } = facts;
  const findings: PreflightFinding[] = [];
  const { name } = platform;
  if (!platformEnabled) {
    findings.push(
      errorFinding(
        'platform-disabled',
        `${name} is not enabled in the account`,
        "enable the platform in the account's settings, or ask the service's support team",
      ),
    );
  }
  if (!isApplicationNeeded(route, platform)) return findings;
  if (application === undefined) {
    const message = `the service does not show which ${name} application is registered`;
    return [
      ...findings,
      warningFinding('application-not-shown', message, 'check that the registered application obtained the tokens'),
    ];
  }
  if (application === null) {
    const message = `no ${name} application is registered, and tokens work only with the application that obtained them`;
    return [...findings, applicationMissing(message, facts)];
  }
  const conflicts = facts.applications
    ? applicationConflicts(application, facts.applications, route === 'self-service')
    : [];
  const canSupply = route === 'managed' && facts.isStarted;
  const inUse = facts.dependents ? dependentFindings(application, facts.dependents, canSupply) : [];
  return [...findings, ...conflicts, ...inUse, ...environmentFindings(application, facts)];
}

/** Returns the command that checks the details of a managed migration again, during step 1. */
export const checkAgainCommand = (migrationId: string): string =>
  `ferry reject ${migrationId} supply-details --reason "check again"`;

/** Returns whether the move needs an application. Tokens that are never refreshed are not bound to one. */
export function isApplicationNeeded(route: Route, { rotation }: Platform): boolean {
  return route === 'managed' || rotation !== 'none';
}

function applicationMissing(message: string, facts: PreflightFacts): PreflightFinding {
  // Names the application again, because `ferry show` can print the advice far from the message.
  const advice = applicationAdvice('the application that obtained the tokens', facts);
  if (facts.route === 'self-service') {
    return warningFinding(
      'application-missing',
      message,
      `${advice}, because without this application the platform can refuse the tokens`,
    );
  }
  return errorUnlessSuppliedLater(facts)('application-missing', message, advice);
}

function environmentFindings(registered: ApplicationFacts, facts: PreflightFacts): readonly PreflightFinding[] {
  const { platform, applications } = facts;
  const { clientId, environment } = registered;
  if (environment === (platform.environment ?? 'production')) return [];
  const where = `is registered for the ${environment} environment of ${platform.name}`;
  const messageAbout = (application: string): string =>
    `${application} ${where}${platform.environment === undefined ? '' : `, not for ${platform.environment}`}`;
  const message = messageAbout(`the application ${quoted(clientId)}`);
  const code = 'application-environment';
  const finding =
    platform.environment === undefined
      ? warningFinding(
          code,
          message,
          `check that every company belongs to the ${environment} environment, because the application can move no other companies`,
        )
      : errorUnlessSuppliedLater(facts)(code, message, applicationAdvice('the right application', facts));
  // An application that was not supplied for this migration can belong to another client.
  const isOwn = applications?.supplied != null && isSameApplication(applications.supplied, registered);
  return [isOwn ? finding : { ...finding, clientMessage: messageAbout('an application') }];
}

/** The findings that are warnings before a managed migration starts, because its step 1 resolves them. */
export const RESOLVED_IN_STEP_1: readonly Finding['code'][] = ['application-missing', 'application-environment'];

/**
 * Returns the function that creates the finding: a warning before a managed migration starts, because its step 1
 * supplies the application; otherwise an error.
 */
function errorUnlessSuppliedLater({ route, isStarted }: PreflightFacts): typeof errorFinding {
  return route === 'managed' && !isStarted ? warningFinding : errorFinding;
}

/** Returns how an application is supplied. In self-service, only support can do so, with an administrator's key. */
function applicationAdvice(which: string, { route, isStarted }: PreflightFacts): string {
  if (route === 'self-service') return `ask support to register ${which}`;
  return `${isStarted ? '' : 'in step 1, after the start, '}supply ${which}`;
}
