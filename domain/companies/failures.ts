/**
 * What a failure means, for the company and for the batch: the one table everything else asks.
 *
 * Pure. The words follow "Failures" of the design; status codes are those of the service's specification, section 7.
 */
import type { CallFailure } from './call-failure';

/** The calls whose failures differ in meaning. */
export type Call =
  | 'find-company'
  | 'create-company'
  | 'create-connection'
  | 'read-connection'
  | 'authorize'
  | 'start-sync'
  | 'read-sync'
  | 'read-records';

/** Why a company was not moved. */
export const FAILURE_KINDS = [
  'refused',
  'credential-unreadable',
  'reauthorization-required',
  'wrong-organization',
  'incomplete',
  'sync-failed',
  'sync-timed-out',
] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Why a batch stopped although companies are left: never the companies' fault. */
export type StopReason =
  | 'key-refused'
  | 'account-limit'
  | 'application-refused'
  | 'wrong-organization'
  /** More companies have failed than the plan tolerates. */
  | 'too-many-failures';

export type Consequence =
  /** The company has failed; the batch goes on. */
  | { readonly then: 'fail'; readonly kind: FailureKind }
  /** The company has failed in a way that others may share; the batch stops until support says so. */
  | { readonly then: 'fail-and-stop'; readonly kind: FailureKind; readonly reason: StopReason }
  /** The company is untouched; the batch stops until support says so. */
  | { readonly then: 'stop'; readonly reason: StopReason }
  /** The company is untouched; it is tried again, later each time. */
  | { readonly then: 'again'; readonly afterMs?: number }
  /** What the service knows of the connection decides: read it. */
  | { readonly then: 'look' }
  /** The data is not there yet. */
  | { readonly then: 'syncing' }
  /** The platform has no such data set. */
  | { readonly then: 'not-applicable' };

/** What it means that a call failed. */
export function consequenceOf(call: Call, failure: CallFailure): Consequence {
  // A lost answer to the authorization says nothing about what the service did with the credential.
  if (failure.kind !== 'answer') {
    const neverSent = failure.kind === 'no-answer' && failure.reason === 'refused';
    return call === 'authorize' && !neverSent ? { then: 'look' } : again(failure);
  }
  switch (failure.status) {
    case 400:
    case 405:
      return { then: 'fail', kind: 'refused' };
    case 401:
      return { then: 'stop', reason: 'key-refused' };
    case 402:
      return { then: 'stop', reason: 'account-limit' };
    case 403:
      // Only the platform's own "not accessible" names an integration; every other 403 is the key's, or a proxy's.
      return ['PublicApi', ''].includes(failure.service) ? { then: 'stop', reason: 'key-refused' } : again(failure);
    case 404:
      return isUnsupportedDataType(failure) ? { then: 'not-applicable' } : { then: 'fail', kind: 'refused' };
    case 409:
      if (call === 'start-sync') return { then: 'look' };
      return call === 'read-records' || call === 'read-sync' ? { then: 'syncing' } : again(failure);
    case 429:
      return again(failure);
    default:
      if (failure.status >= 500) return call === 'authorize' ? { then: 'look' } : again(failure);
      return { then: 'fail', kind: 'refused' };
  }
}

/** What an error on a connection means that the service could not link. `statusText` is the service's word for it. */
export function consequenceOfLinkError(statusText: string | undefined): Consequence {
  switch (statusText) {
    case 'GrantRefused':
      return { then: 'fail', kind: 'reauthorization-required' };
    case 'ApplicationRefused':
      return { then: 'stop', reason: 'application-refused' };
    case 'WrongOrganization':
      return { then: 'fail-and-stop', kind: 'wrong-organization', reason: 'wrong-organization' };
    case 'PlatformUnavailable':
    case 'PlatformRateLimited':
      return { then: 'again' };
    default:
      return { then: 'fail', kind: 'refused' };
  }
}

/** Section 7.3 of the specification: `Datatype <name> not supported by platform(s) <name>`. */
function isUnsupportedDataType(failure: { readonly error: string }): boolean {
  return failure.error.startsWith('Datatype ') && failure.error.includes('not supported by platform');
}

function again(failure: CallFailure): Consequence {
  return 'retryAfterMs' in failure && failure.retryAfterMs !== undefined
    ? { then: 'again', afterMs: failure.retryAfterMs }
    : { then: 'again' };
}

/** A failure in a sentence for the person who has to do something about it. */
export function failureText(kind: FailureKind): string {
  switch (kind) {
    case 'refused':
      return 'the service refused the company or its details';
    case 'credential-unreadable':
      return 'the stored credential cannot be used and has to be supplied again';
    case 'reauthorization-required':
      return 'reauthorization required: the end customer has to connect again';
    case 'wrong-organization':
      return 'the credential belongs to another organization';
    case 'incomplete':
      return 'data incomplete: fewer records than expected';
    case 'sync-failed':
      return 'a data set could not be synced';
    case 'sync-timed-out':
      return 'the sync did not end in time';
  }
}

/** Why a batch stopped, and what lets it go on. */
export function stopReasonText(reason: StopReason): string {
  switch (reason) {
    case 'key-refused':
      return "the service refuses tokenferry's API key; give it a valid administrator key, then resume";
    case 'account-limit':
      return 'the account has reached a limit or has expired; raise it, then resume';
    case 'application-refused':
      return "the platform refuses the client's application; correct its client id, secret or environment, then resume";
    case 'wrong-organization':
      return 'a credential belongs to another organization; check that the manifest is not shifted by a row, then resume';
    case 'too-many-failures':
      return 'more companies were not moved than the plan tolerates; look at why, then resume to accept them';
  }
}
