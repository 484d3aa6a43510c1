/** Remedies: what can be done about a company that was not moved. Lists, the report and refusals share them. */
import type { Route } from '../../platforms/platforms';
import { NOT_CHECKED, type CompanyState } from './company-state';
import { acceptedSupplies, missingCredentialText, type SupplyMessage, type WaitingCompany } from './credential-state';
import { FAILURE_KINDS, type FailureKind } from './failures';

/** Each remedy is a `ferry` command of the same name. */
export type Remedy =
  | 'retry'
  | 'relink'
  | 'replace-credential'
  | 'credentials'
  | 'application'
  | 'skip'
  | 'amend'
  | 'exclude';

/** The facts about a company that decide which remedies apply. */
export interface Remediable extends WaitingCompany {
  readonly state: CompanyState;
  readonly failure: FailureKind | null;
  /** The page on which its end customer can reconnect; null if there is none. */
  readonly linkUrl: string | null;
  /** True if the company is deferred, so that it is tried again later. */
  readonly deferred: boolean;
  /** Number of times that its import was tried. */
  readonly tries: number;
  /** When the service accepted its credential; null if it has not. */
  readonly crossedAt: Date | null;
}

/** Returns the remedies, the most promising first. Empty if nothing can be done or needs to be done. */
export function remediesFor(company: Remediable): readonly Remedy[] {
  const accepted = acceptedSupplies(company);
  return promisingRemedies(company, accepted).filter((remedy) => {
    if (remedy === 'retry' && isRetryUseless(company)) return false;
    const message = SUPPLIED_BY[remedy];
    return message === undefined || accepted.includes(message);
  });
}

/**
 * Returns whether a retry cannot help, because the grant has ended and an accepted credential is never sent again. Once
 * the end customer has reconnected, `relink` moves the company. Without a link, only a retry can find out whether the
 * end customer has reconnected.
 */
function isRetryUseless({ failure, crossedAt, linkUrl }: Remediable): boolean {
  return failure === 'reauthorization-required' && crossedAt !== null && linkUrl !== null;
}

/** The remedies that supply a credential, and the message with which each does it. */
const SUPPLIED_BY: Readonly<Partial<Record<Remedy, SupplyMessage>>> = {
  credentials: 'credentialsSupplied',
  'replace-credential': 'replaceCredential',
};

function promisingRemedies(company: Remediable, accepted: readonly SupplyMessage[]): readonly Remedy[] {
  const { state, failure, linkUrl, heldBack, deferred } = company;
  const relink: readonly Remedy[] = linkUrl === null ? [] : ['relink'];
  switch (state) {
    case 'failed':
      return [...remediesForFailure(failure, relink), 'skip'];
    case 'outcome-unknown':
      return ['retry', ...relink, 'replace-credential', 'skip'];
    case 'waiting':
      // Nothing is wrong with the row: a worker checks it.
      if (heldBack === NOT_CHECKED) return [];
      if (deferred) return [...remediesForDeferred(company), 'skip', 'exclude'];
      if (heldBack !== null) return ['amend', 'exclude'];
      if (missingCredentialText(company) !== null) return ['credentials', 'exclude'];
      // A company that waits for its next try, for example after a retry, accepts a new credential and can be skipped.
      return accepted.includes('replaceCredential') ? ['replace-credential', 'skip', 'exclude'] : ['exclude'];
    case 'importing':
    case 'syncing':
    case 'moved':
    case 'skipped':
    case 'excluded':
      return [];
  }
}

/** The facts about a migration that decide which remedies it accepts now. */
export interface RemedyRules {
  readonly route: Route;
  /** True once step 5 has ended. */
  readonly isCompleting: boolean;
  /** True if the company is the first company. */
  readonly isFirst: boolean;
}

/**
 * Returns the remedies that an open migration accepts now. Before step 6, a managed migration accepts neither `skip`
 * nor `relink`, and `retry` only for a first company that was not moved. It can also refuse `replace-credential` for a
 * waiting company, so `credentials` takes its place.
 */
export function acceptedRemedies(
  company: Remediable,
  { route, isCompleting, isFirst }: RemedyRules,
): readonly Remedy[] {
  const all = remediesFor(company);
  if (route === 'self-service' || isCompleting) return all;
  const isWaiting = company.state === 'waiting';
  const canRetry = isFirst && !isWaiting;
  // Before step 6, at most first companies have moved with the application, so the application is probably wrong.
  const first = all.filter((remedy) => remedy === 'application');
  return [...new Set([...first, ...all])]
    .map((remedy) => (remedy === 'replace-credential' && isWaiting ? 'credentials' : remedy))
    .filter((remedy) => !ONLY_IN_STEP_6.includes(remedy) && (remedy !== 'retry' || canRetry));
}

const ONLY_IN_STEP_6: readonly Remedy[] = ['skip', 'relink'];

function remediesForDeferred(company: Remediable): readonly Remedy[] {
  if (company.failure === 'application-refused') return ['credentials', 'application', 'retry'];
  // A retry moves the company only once it has a usable credential.
  return company.failure === null && missingCredentialText(company) === null
    ? ['retry', 'replace-credential']
    : ['credentials', 'retry'];
}

function remediesForFailure(failure: FailureKind | null, relink: readonly Remedy[]): readonly Remedy[] {
  switch (failure) {
    case 'reauthorization-required':
      return [...relink, 'replace-credential', 'retry'];
    case 'wrong-organization':
      return ['replace-credential', ...relink, 'retry'];
    case 'application-refused':
      // `replace-credential` comes first, because registering another application would end the service's access to
      // companies that have moved with the registered one.
      return ['replace-credential', 'application', 'retry', ...relink];
    case 'credential-unreadable':
      return ['replace-credential', 'retry'];
    case 'incomplete':
      return ['retry', 'amend', 'replace-credential'];
    case 'refused':
    case 'sync-failed':
    case 'sync-timed-out':
    case null:
      return ['retry', 'replace-credential'];
  }
}

/** The failures after which a company can move once its end customer has reconnected it. */
export const RELINKABLE: readonly FailureKind[] = FAILURE_KINDS.filter((kind) =>
  remediesForFailure(kind, ['relink']).includes('relink'),
);

/**
 * Tells the client what to do for the most promising remedy, which is never `application`. In the managed route,
 * support decides whether to try a company again.
 */
export function clientRemedyText(remedy: Exclude<Remedy, 'application'>, route: Route): string {
  switch (remedy) {
    case 'retry':
      return route === 'self-service' ? 'try it again' : 'nothing now; support decides whether to try it again';
    case 'relink':
      return 'send its end customer the link to reconnect';
    case 'replace-credential':
      return 'export a new credential, and supply it as a replacement';
    case 'credentials':
      return 'supply a new credential';
    case 'skip':
    case 'exclude':
      return 'leave it out';
    case 'amend':
      // In step 1, the portal can replace the manifest. Afterwards, only the command can correct a row.
      return 'correct its row in the manifest, or send the correct row to support; otherwise, leave it out';
  }
}

const REMEDY_TEXTS: Readonly<Record<Exclude<Remedy, 'amend'>, string>> = {
  retry: 'try again; if the service has accepted the credential, only the sync and the checks are repeated',
  relink: 'check again after the end customer has reconnected with the link',
  'replace-credential': 'try again with a new credential from the client',
  credentials: 'supply a new credential from the client',
  application:
    'supply the right client id and client secret, then try again; register another application only if no company has moved with the registered one',
  skip: 'give up on the company and leave it out',
  exclude: 'leave out',
};

/**
 * Tells support what a remedy does.
 *
 * @param accepted all remedies that the migration accepts now for the same companies
 */
export function remedyText(remedy: Remedy, accepted: readonly Remedy[]): string {
  if (remedy !== 'amend') return REMEDY_TEXTS[remedy];
  const correct = 'correct the row in the manifest';
  // Companies that can be left out are held back, and are checked again without a retry.
  if (accepted.includes('exclude')) return correct;
  const when = accepted.includes('retry')
    ? 'afterwards'
    : 'in step 6; in step 5, only the first company can be retried';
  return `${correct} (if its expected number of invoices was wrong, retry ${when})`;
}
