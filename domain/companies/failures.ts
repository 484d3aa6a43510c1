/**
 * The failure table: the consequences of a failed call for the company and for the batch. All code uses this table, so
 * that a failure has the same consequence everywhere.
 *
 * | failure                                    | company                | batch     |
 * | ------------------------------------------ | ---------------------- | --------- |
 * | 400, 404, 405, any other status below 500  | failed                 | continues |
 * | 401, 402, 403 caused by the key or account | untouched              | stops     |
 * | 403 from the platform, 409, 429            | retried with backoff   | continues |
 * | 409 when a sync is started                 | its connection is read | continues |
 * | 409 when a sync or its records are read    | still syncing          | continues |
 * | 5xx, no answer, unreadable answer          | retried with backoff   | continues |
 * | any status, not in the service's form      | retried with backoff   | continues |
 * | 5xx or no clear answer to an authorization | its connection is read | continues |
 * | the platform refuses the grant             | must reconnect         | continues |
 * | the grant is for the wrong organization    | failed                 | stops (*) |
 * | the platform refuses the application       | retried with backoff   | stops (*) |
 * | the platform is down or limits the rate    | retried with backoff   | continues |
 * | linking fails for any other reason         | failed                 | continues |
 *
 * (*) Only if it happens to several companies in a row, or to the first company. Otherwise, it probably concerns only
 * this company's credential, so the batch continues, and `ferry exceptions` lists the company.
 *
 * Statuses below 500 have these consequences only in the service's error form. Any other error page comes from a proxy,
 * for example while the service is being deployed, and is treated as an outage. In answer to an authorization, such a
 * page is unclear, because a proxy can replace the service's answer with its own page. A 429 is the exception: in any
 * form, it means that the call had no effect.
 *
 * Status codes follow section 7 of the service's specification. A 404 for a data type that the platform does not
 * support is not in the table: only that data set is skipped.
 */
import { oneLine } from '../text/sentences';
import type { CallFailure } from './call-failure';

/** The calls that the table distinguishes. */
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
  'application-refused',
] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Why a batch stopped before all companies were moved. */
export type StopReason =
  | 'key-refused'
  | 'account-limit'
  | 'application-refused'
  | 'wrong-organization'
  | 'too-many-failures'
  /** The ledger was restored to an older state. See store/migrations/ledger-mark.ts. */
  | 'ledger-behind';

export type Consequence =
  /** The company has failed. The batch continues. */
  | { readonly action: 'fail'; readonly kind: FailureKind }
  /**
   * The company has failed, and others could fail for the same reason. The batch stops until the migration is resumed;
   * for an isolated reason (`isIsolated`), only when the failure repeats or concerns the first company.
   */
  | { readonly action: 'fail-and-stop'; readonly kind: FailureKind; readonly reason: StopReason }
  /**
   * The company is untouched. The batch stops until the migration is resumed. For an isolated reason (`isIsolated`), it
   * stops only when the failure repeats or concerns the first company; otherwise the company is retried after a
   * backoff.
   */
  | { readonly action: 'stop'; readonly reason: StopReason }
  /** The company is untouched, and is retried after a backoff. */
  | { readonly action: 'retry'; readonly afterMs?: number }
  /** The failure does not show whether the connection is linked. The connection's state at the service decides. */
  | { readonly action: 'read-connection' }
  /** The company is still syncing. */
  | { readonly action: 'poll-again' }
  /** The platform has no such data set. */
  | { readonly action: 'skip-data-set' };

type Answer = Extract<CallFailure, { readonly kind: 'response' }>;

const REFUSED: Consequence = { action: 'fail', kind: 'refused' };
const KEY_REFUSED: Consequence = { action: 'stop', reason: 'key-refused' };

const BY_STATUS: Readonly<Record<number, (call: Call, answer: Answer) => Consequence>> = {
  400: () => REFUSED,
  401: () => KEY_REFUSED,
  402: () => ({ action: 'stop', reason: 'account-limit' }),
  // A 403 from the platform contains the name of an integration. Any other 403 comes from the key check.
  403: (_, answer) => (answer.service === 'PublicApi' ? KEY_REFUSED : retry(answer)),
  404: (_, answer) => (isUnsupportedDataType(answer) ? { action: 'skip-data-set' } : REFUSED),
  405: () => REFUSED,
  409: (call, answer) => CONFLICT[call] ?? retry(answer),
  429: (_, answer) => retry(answer),
};

const CONFLICT: Readonly<Partial<Record<Call, Consequence>>> = {
  'start-sync': { action: 'read-connection' },
  'read-sync': { action: 'poll-again' },
  'read-records': { action: 'poll-again' },
};

/** Returns the consequence of a failed call. */
export function consequenceOf(call: Call, failure: CallFailure): Consequence {
  if (failure.kind === 'response' && failure.status < 500 && (failure.isFromService || failure.status === 429)) {
    return BY_STATUS[failure.status]?.(call, failure) ?? REFUSED;
  }
  // If an authorization got no clear answer, the service might have used the credential.
  const neverSent = failure.kind === 'no-response' && failure.reason === 'refused';
  return call === 'authorize' && !neverSent ? { action: 'read-connection' } : retry(failure);
}

const BY_LINK_ERROR: ReadonlyMap<string | undefined, Consequence> = new Map<string, Consequence>([
  ['GrantRefused', { action: 'fail', kind: 'reauthorization-required' }],
  ['ApplicationRefused', { action: 'stop', reason: 'application-refused' }],
  ['WrongOrganization', { action: 'fail-and-stop', kind: 'wrong-organization', reason: 'wrong-organization' }],
  ['PlatformUnavailable', { action: 'retry' }],
  ['PlatformRateLimited', { action: 'retry' }],
]);

/**
 * Returns the consequence if the service could not link a connection.
 *
 * @param statusText the service's name for the error; undefined if it gave none
 */
export function consequenceOfLinkError(statusText: string | undefined): Consequence {
  return BY_LINK_ERROR.get(statusText) ?? REFUSED;
}

/** Where an outage is: at the Company Data Service, or behind it at the platform. */
export type OutageSource = 'service' | 'platform';

/** Returns where a call failed. Errors from the platform contain the name of an integration. */
export function sourceOf(failure: CallFailure): OutageSource {
  const isFromIntegration = failure.kind === 'response' && failure.isFromService && failure.service !== 'PublicApi';
  return isFromIntegration ? 'platform' : 'service';
}

/** Recognizes the error text of section 7.3: `Datatype <name> not supported by platform(s) <name>`. */
function isUnsupportedDataType({ error }: Answer): boolean {
  return error.startsWith('Datatype ') && error.includes('not supported by platform');
}

function retry(failure: CallFailure): Consequence {
  return 'retryAfterMs' in failure && failure.retryAfterMs !== undefined
    ? { action: 'retry', afterMs: failure.retryAfterMs }
    : { action: 'retry' };
}

const FAILURE_TEXTS: Readonly<Record<FailureKind, string>> = {
  refused: 'the service refused a request or could not link the connection',
  'credential-unreadable': 'the stored credential is unusable and must be replaced',
  'reauthorization-required': 'must reconnect: the authorization no longer works',
  'wrong-organization': 'the credential belongs to another organization',
  incomplete: 'incomplete data: fewer records than expected',
  'sync-failed': 'a data set could not be synced',
  'sync-timed-out': 'the sync did not finish in time',
  'application-refused':
    'the platform rejects the application for this credential: the application is wrong, or another application obtained the credential',
};

/** Returns why a company was not moved, for the person who has to act. */
export function failureText(kind: FailureKind): string {
  return FAILURE_TEXTS[kind];
}

/** The text of `refused` in an earlier version, which the ledger can still contain. */
const FORMER_REFUSED = 'the service refused the company or its details';

/** Returns whether a stored text begins with the text of the failure. Import adds its detail to that text. */
export function namesFailure(stored: string, kind: FailureKind): boolean {
  return stored.startsWith(FAILURE_TEXTS[kind]) || (kind === 'refused' && stored.startsWith(FORMER_REFUSED));
}

/** The client's remedies for an automatic pause of a managed migration. Afterwards, only support can resume it. */
export const CLIENT_REMEDIES: Readonly<Partial<Record<StopReason, string>>> = {
  'application-refused':
    "correct the application's secret (or, if no company has moved with it, its client id or environment), or supply credentials that it obtained",
  'wrong-organization':
    'if rows of the manifest have shifted by one, correct them or send support the correct rows, and supply their credentials again; if rows of the credentials have shifted by one, replace the credentials of all companies that are still waiting; otherwise, replace only the wrong credentials',
};

/**
 * The stored texts, which must not change. Workflows compute them again on replay, and a decision to resume can contain
 * a digest of them: after a change, a replay would refuse a resume that the workflow has applied. People read
 * {@link shownStopText} and {@link stopCauseText}; programs can read the stored texts, in JSON.
 */
const STOP_TEXTS: Readonly<Record<StopReason, string>> = {
  'key-refused':
    "the service rejects Tokenferry's API key; set COMPANY_DATA_API_KEY to a valid key (in the managed route, an administrator key) and restart the workers, then resume",
  'account-limit': 'the account has reached one of its limits or has expired; upgrade or renew it, then resume',
  'application-refused':
    "the platform rejects the client's application; correct its client id, secret or environment, then resume",
  'wrong-organization':
    'a credential belongs to another organization than its company; if rows of the manifest or of the credentials have shifted by one, replace all waiting credentials, otherwise replace only the wrong one; then resume',
  'too-many-failures': 'too many companies could not be moved; find out why, then resume to accept these failures',
  'ledger-behind':
    'the ledger was out of date, probably because it was restored from a backup; reconcile the ledger if this has not been done yet, then resume',
};

/**
 * Returns the stored text about a batch that stopped.
 *
 * @param numbers for people: the failure rate or the companies that led to the stop; null if there are none
 */
export function stopReasonText(reason: StopReason, numbers: string | null = null): string {
  return numbers === null ? STOP_TEXTS[reason] : `${STOP_TEXTS[reason]} (${numbers})`;
}

/** Matches the numbers in a stored text of an earlier version, whose advice had other words but the same end. */
const NUMBERS_AFTER_ADVICE = /(?:then resume|these failures) \(([^]*)\)$/;

/** Returns the numbers in a text of {@link stopReasonText}, also of an earlier version; null if it has none. */
export function stopNumbersIn(text: string, reason: StopReason): string | null {
  const before = `${STOP_TEXTS[reason]} (`;
  if (text.startsWith(before)) return text.slice(before.length, -1);
  return NUMBERS_AFTER_ADVICE.exec(text)?.[1] ?? null;
}

/** The text that people read about a stop: its cause, and what to do before the migration is resumed. */
const SHOWN_STOPS: Readonly<Record<StopReason, { readonly cause: string; readonly advice: string }>> = {
  'key-refused': {
    cause: "the service rejects Tokenferry's API key",
    advice:
      'set COMPANY_DATA_API_KEY to a valid key (in the managed route, an administrator key) and restart the workers, then resume',
  },
  'account-limit': {
    cause: 'the account has reached one of its limits or has expired',
    advice: 'upgrade or renew it, then resume',
  },
  'application-refused': {
    cause: "the platform rejects the client's application, or a credential was obtained with another application",
    advice:
      "the output of ferry exceptions lists the companies; correct the application's secret (or, if no company has moved with it, its client id or environment), or supply credentials that it obtained; then resume",
  },
  'wrong-organization': {
    cause: 'a credential gives access to an organization other than the one in the manifest',
    advice:
      'the output of ferry exceptions lists the companies; if rows of the manifest have shifted by one, correct them, and supply their credentials again; if rows of the credentials have shifted by one, replace the credentials of all companies that are still waiting; otherwise, replace only the wrong credentials; then resume',
  },
  'too-many-failures': {
    cause: 'too many companies could not be moved',
    advice: 'find out why, then resume; the failures so far then no longer count towards the next pause',
  },
  'ledger-behind': {
    cause: 'the ledger was out of date, probably because it was restored from a backup',
    advice: 'reconcile the ledger if this has not been done yet, then resume',
  },
};

/**
 * Maximum length, in characters, of the failure rate or the list of companies that led to a stop. Leaves room for the
 * advice in the text about a pause (`MAX_PAUSE_LENGTH`).
 */
export const MAX_STOP_NUMBERS_LENGTH = 500;

/**
 * Returns why a batch stopped, and what to do before it is resumed, for people.
 *
 * @param stored the stored text, from which the numbers come
 */
export function shownStopText(reason: StopReason, stored = ''): string {
  return `${stopCauseText(reason, stored)}; ${SHOWN_STOPS[reason].advice}`;
}

/** Returns only why a batch stopped, with the numbers of the stored text. */
export function stopCauseText(reason: StopReason, stored: string): string {
  const numbers = stopNumbersIn(stored, reason);
  const { cause } = SHOWN_STOPS[reason];
  return numbers === null ? cause : `${cause} (${oneLine(numbers, MAX_STOP_NUMBERS_LENGTH)})`;
}

/** A reason to stop that can affect just one company. */
export type IsolatedStop = Extract<StopReason, FailureKind>;

/** Returns whether a reason can concern one company. The batch then stops if it repeats, or for the first company. */
export function isIsolated(reason: StopReason): reason is IsolatedStop {
  return reason === 'application-refused' || reason === 'wrong-organization';
}
