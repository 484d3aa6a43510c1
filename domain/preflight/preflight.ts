/**
 * The preflight: what is wrong with the supplied details, found before any credential is used.
 *
 * Pure: whoever asks gathers the facts, a worker from its ledger or a command from a file, and both read the same
 * findings.
 */
import { moment } from '../text/moments';
import type { Platform, Route } from '../../platforms/platforms';
import type { PreflightFinding } from './preflight-finding';
import { error, quoted, warning } from './preflight-finding';
import { counted } from '../text/sentences';

/** The account that our API key belongs to. */
export interface AccountFacts {
  readonly plan: string;
  /** Of the key. */
  readonly role: string;
  /** Null: there is none. */
  readonly companyLimit: number | null;
  readonly companiesUsed: number;
  /** ISO 8601; null: it does not expire. */
  readonly expiresAt: string | null;
}

/** The client's own application at the platform, as far as it may be seen. */
export interface ApplicationFacts {
  readonly clientId: string;
  readonly environment: string;
}

/** What the service says of the account as a whole, without a credential. */
export interface ServiceFacts {
  readonly account: AccountFacts;
  readonly platformEnabled: boolean;
  readonly callbackUrl: string | null;
  /** Null: none was registered. Absent: the service does not say. */
  readonly application?: ApplicationFacts | null;
}

export interface PreflightFacts {
  readonly route: Route;
  /** Before that nobody can supply an application: the managed route asks for it in step 1. */
  readonly isStarted: boolean;
  readonly platform: Platform;
  /** So many of the companies that are still to be moved the account does not have yet. */
  readonly toCreate: number;
  /** Refused: the service answered, and wants nothing to do with us. Null: nobody asked it. */
  readonly service: ServiceFacts | { readonly refused: string } | null;
  /** When the last company is moved, at worst. ISO 8601, UTC; null: not within a year. */
  readonly endsBy: string | null;
}

/** What account and platform have against moving anything at all. */
export function preflight(facts: PreflightFacts): readonly PreflightFinding[] {
  const { platform, service } = facts;
  const findings: PreflightFinding[] = [];
  if (!platform.routes.includes(facts.route)) findings.push(otherRoute(facts));
  if (service === null) return findings;
  if ('refused' in service) {
    return [...findings, error('service-refuses', service.refused, 'look at the API key and its account')];
  }
  return [...findings, ...accountFindings(service.account, facts), ...platformFindings(service, facts)];
}

function otherRoute({ platform: { name, slug }, route }: PreflightFacts): PreflightFinding {
  return route === 'managed'
    ? error(
        'no-managed-route',
        `${name} has no managed route`,
        `move its connections with: ferry self-service FILE --platform ${slug}`,
      )
    : error(
        'no-self-service-route',
        `${name} has only the managed route`,
        `have its connections moved with: ferry start FILE --platform ${slug}`,
      );
}

function accountFindings(
  { role, plan, companyLimit, companiesUsed, expiresAt }: AccountFacts,
  { route, toCreate, endsBy }: PreflightFacts,
): readonly PreflightFinding[] {
  const findings: PreflightFinding[] = [];
  // A client's own key may put authorizations where there is a self-service route.
  if (route === 'managed' && role !== 'administrator') {
    findings.push(
      error(
        'key-not-administrator',
        'the API key is not an administrator key',
        'give the workers an administrator key',
      ),
    );
  }
  if (companyLimit !== null && companiesUsed + toCreate > companyLimit) {
    const room = Math.max(0, companyLimit - companiesUsed);
    findings.push(
      error(
        'no-room',
        `the account has room for ${counted(room, 'company')}, not for ${toCreate} (limit ${companyLimit}, plan ${plan})`,
        'choose another plan, delete companies that are not needed, or leave some out',
      ),
    );
  }
  if (expiresAt !== null && (endsBy === null || Date.parse(expiresAt) <= Date.parse(endsBy))) {
    findings.push(
      error(
        'account-expires',
        `the account expires at ${moment(new Date(expiresAt).toISOString())}; the last company may be moved ${endsBy === null ? 'more than a year from now' : `as late as ${moment(endsBy)}`}`,
        'choose a plan that does not expire, or start earlier',
      ),
    );
  }
  if (plan === 'trial') {
    findings.push(
      warning(
        'account-on-trial',
        'the account is on a trial: no hourly syncs',
        'choose another plan before the handover',
      ),
    );
  }
  return findings;
}

function platformFindings(
  { platformEnabled, application }: ServiceFacts,
  { platform, route, isStarted }: PreflightFacts,
): readonly PreflightFinding[] {
  const findings: PreflightFinding[] = [];
  const { name } = platform;
  if (!platformEnabled) {
    findings.push(error('platform-disabled', `${name} is not enabled in the account`, 'have it enabled'));
  }
  // Where nothing is refreshed, no token is bound to an application.
  if (route === 'self-service' && platform.rotation === 'none') return findings;
  if (application === undefined) {
    const message = `the service does not say which application at ${name} is registered`;
    return [...findings, warning('application-not-shown', message, 'make sure that it is the one that got the tokens')];
  }
  if (application === null) {
    const message = `no application at ${name} is registered, and its tokens are good for their own application alone`;
    return [...findings, applicationMissing(message, route, isStarted)];
  }
  return [...findings, ...environmentFindings(application, platform)];
}

function applicationMissing(message: string, route: Route, isStarted: boolean): PreflightFinding {
  // A client's own key cannot register one.
  if (route === 'self-service') {
    return warning('application-missing', message, 'have it registered if its tokens are refused');
  }
  return isStarted
    ? error('application-missing', message, 'supply it with: ferry application')
    : warning('application-missing', message, 'supply it in step 1, when it is started, with: ferry application');
}

function environmentFindings(
  { clientId, environment }: ApplicationFacts,
  platform: Platform,
): readonly PreflightFinding[] {
  if (environment === (platform.environment ?? 'production')) return [];
  const message = `the application ${quoted(clientId)} is of the ${environment} environment of ${platform.name}`;
  return platform.environment === undefined
    ? [warning('application-environment', message, 'only companies of that environment can be moved with it')]
    : [
        error(
          'application-environment',
          `${message}, not of ${platform.environment}`,
          'supply it with: ferry application',
        ),
      ];
}
