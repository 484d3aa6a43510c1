/** Tests every row of the failure table (domain/companies/failures.ts). */
import fc from 'fast-check';
import type { CallFailure } from '../../../domain/companies/call-failure';
import {
  consequenceOf,
  consequenceOfLinkError,
  failureText,
  stopNumbersIn,
  shownStopText,
  stopReasonText,
  type Call,
  type Consequence,
  type FailureKind,
  type StopReason,
} from '../../../domain/companies/failures';

const CALLS: readonly Call[] = [
  'find-company',
  'create-company',
  'create-connection',
  'read-connection',
  'authorize',
  'start-sync',
  'read-sync',
  'read-records',
];
const except = (...calls: readonly Call[]): readonly Call[] => CALLS.filter((call) => !calls.includes(call));

const answer = (status: number, more: Partial<Extract<CallFailure, { kind: 'response' }>> = {}): CallFailure => ({
  kind: 'response',
  status,
  isFromService: true,
  error: 'something',
  service: 'PublicApi',
  ...more,
});
/** Returns the failure for a page that a proxy sends. */
const page = (status: number): CallFailure => answer(status, { isFromService: false, service: '' });
const noResponse = (reason: 'time-out' | 'dropped' | 'refused'): CallFailure => ({ kind: 'no-response', reason });
const UNREADABLE: CallFailure = { kind: 'unreadable', status: 200 };
const UNSUPPORTED = 'Datatype invoices not supported by platform(s) Plaid';

const FAIL: Consequence = { action: 'fail', kind: 'refused' };
const KEY: Consequence = { action: 'stop', reason: 'key-refused' };
const ACCOUNT: Consequence = { action: 'stop', reason: 'account-limit' };
const RETRY: Consequence = { action: 'retry' };
const READ_CONNECTION: Consequence = { action: 'read-connection' };
const SYNCING: Consequence = { action: 'poll-again' };

const TABLE: readonly [string, CallFailure, readonly Call[], Consequence][] = [
  ['400', answer(400), CALLS, FAIL],
  ['404 for the company', answer(404), CALLS, FAIL],
  ['405', answer(405), CALLS, FAIL],
  ['404 for an unsupported data type', answer(404, { error: UNSUPPORTED }), CALLS, { action: 'skip-data-set' }],
  ['401', answer(401), CALLS, KEY],
  ['402', answer(402), CALLS, ACCOUNT],
  ['403 for the key', answer(403), CALLS, KEY],
  ['403 because the platform cannot be reached', answer(403, { service: 'QuickBooks Online' }), CALLS, RETRY],
  ['409 when starting syncs', answer(409), ['start-sync'], READ_CONNECTION],
  ['409 when reading data', answer(409), ['read-sync', 'read-records'], SYNCING],
  ['409 for any other call', answer(409), except('start-sync', 'read-sync', 'read-records'), RETRY],
  ['429', answer(429), CALLS, RETRY],
  ['429 with Retry-After', answer(429, { retryAfterMs: 90_000 }), CALLS, { action: 'retry', afterMs: 90_000 }],
  ['500', answer(500), except('authorize'), RETRY],
  ['500 for the authorization', answer(500), ['authorize'], READ_CONNECTION],
  ['502', answer(502), except('authorize'), RETRY],
  ['503', answer(503), except('authorize'), RETRY],
  ['503 for the authorization', answer(503), ['authorize'], READ_CONNECTION],
  ['503 with Retry-After', answer(503, { retryAfterMs: 5_000 }), ['read-sync'], { action: 'retry', afterMs: 5_000 }],
  ['time-out', noResponse('time-out'), except('authorize'), RETRY],
  ['time-out of the authorization', noResponse('time-out'), ['authorize'], READ_CONNECTION],
  ['dropped connection', noResponse('dropped'), except('authorize'), RETRY],
  ['dropped connection of the authorization', noResponse('dropped'), ['authorize'], READ_CONNECTION],
  ['refused connection', noResponse('refused'), CALLS, RETRY],
  ['unreadable success', UNREADABLE, except('authorize'), RETRY],
  ['unreadable success of the authorization', UNREADABLE, ['authorize'], READ_CONNECTION],
  ...[302, 400, 401, 402, 403, 404, 405, 409, 410].flatMap((status): typeof TABLE => [
    [`a proxy's ${status}`, page(status), except('authorize'), RETRY],
    [`a proxy's ${status} for the authorization`, page(status), ['authorize'], READ_CONNECTION],
  ]),
  ["a proxy's 429", page(429), CALLS, RETRY],
  ['410', answer(410), CALLS, FAIL],
];

test.each(
  TABLE.flatMap(([name, failure, calls, expected]) => calls.map((call) => [name, call, failure, expected] as const)),
)('returns the consequence of %s for the call %s', (_, call, failure, expected) => {
  expect(consequenceOf(call, failure)).toEqual(expected);
});

test.each<[string | undefined, Consequence]>([
  ['GrantRefused', { action: 'fail', kind: 'reauthorization-required' }],
  ['ApplicationRefused', { action: 'stop', reason: 'application-refused' }],
  ['WrongOrganization', { action: 'fail-and-stop', kind: 'wrong-organization', reason: 'wrong-organization' }],
  ['PlatformUnavailable', RETRY],
  ['PlatformRateLimited', RETRY],
  ['SomethingNew', FAIL],
  [undefined, FAIL],
])('returns the consequence of the link error %s', (statusText, expected) => {
  expect(consequenceOfLinkError(statusText)).toEqual(expected);
});

const anyFailure: fc.Arbitrary<CallFailure> = fc.oneof(
  fc.record({
    kind: fc.constant('response'),
    status: fc.integer({ min: 100, max: 999 }),
    isFromService: fc.boolean(),
    error: fc.string(),
    service: fc.string(),
  }),
  fc.record({ kind: fc.constant('no-response'), reason: fc.constantFrom('time-out', 'dropped', 'refused') }),
  fc.record({ kind: fc.constant('unreadable'), status: fc.integer({ min: 200, max: 299 }) }),
);

test('an authorization is retried only if its credential was certainly not used', () => {
  const neverUsed = (failure: CallFailure): boolean =>
    failure.kind === 'no-response'
      ? failure.reason === 'refused'
      : failure.kind === 'response' && failure.status < 500 && (failure.isFromService || failure.status === 429);
  fc.assert(
    fc.property(anyFailure, (failure) => {
      const { action } = consequenceOf('authorize', failure);
      if (action === 'retry') expect(neverUsed(failure)).toBe(true);
    }),
  );
});

test('the texts of failures and stops are distinct and contain no internal terms, and the texts of stops say to resume', () => {
  const kinds: readonly FailureKind[] = [
    'refused',
    'credential-unreadable',
    'reauthorization-required',
    'wrong-organization',
    'incomplete',
    'sync-failed',
    'sync-timed-out',
    'application-refused',
  ];
  const reasons: readonly StopReason[] = ['key-refused', 'account-limit', 'application-refused', 'wrong-organization'];
  const texts = [...kinds.map(failureText), ...reasons.map((reason) => shownStopText(reason))];
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).not.toMatch(/ledger|vault|slice|crossing|digest|PendingAuth/i);
  for (const text of reasons.map((reason) => shownStopText(reason))) expect(text).toMatch(/[,;] then resume$/);
});

test('the reasons for a pause keep their texts, because digests in histories contain them', () => {
  const texts: Readonly<Record<StopReason, string>> = {
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
  for (const [reason, text] of Object.entries(texts)) expect(stopReasonText(reason as StopReason)).toBe(text);
  expect(stopNumbersIn(stopReasonText('key-refused', 'A-1 (Acme), A-2'), 'key-refused')).toBe('A-1 (Acme), A-2');
});

test('the reason for a pause because of a restored ledger stays true after the ledger has been reconciled', () => {
  expect(shownStopText('ledger-behind')).toMatch(
    /^the ledger was out of date, .*; reconcile the ledger if this has not been done yet, /,
  );
});

test('the advice about a refused application also helps if another application obtained a credential', () => {
  expect(shownStopText('application-refused', stopReasonText('application-refused', 'A-1, A-2'))).toBe(
    "the platform rejects the client's application, or a credential was obtained with another application (A-1, A-2); the output of ferry exceptions lists the companies; correct the application's secret (or, if no company has moved with it, its client id or environment), or supply credentials that it obtained; then resume",
  );
});

test('people read the current advice about a pause, with the numbers of the stored text', () => {
  const stored = stopReasonText('wrong-organization', 'A-1 (Acme), A-2');
  expect(shownStopText('wrong-organization', stored)).toMatch(
    /^a credential gives access to an organization other than the one in the manifest \(A-1 \(Acme\), A-2\); the output of ferry exceptions lists the companies; if rows of the manifest have shifted by one, correct them, and supply their credentials again; /,
  );
  expect(shownStopText('too-many-failures', stopReasonText('too-many-failures', '5 of 9'))).toBe(
    'too many companies could not be moved (5 of 9); find out why, then resume; the failures so far then no longer count towards the next pause',
  );
  expect(shownStopText('account-limit', 'the text of an earlier version')).toBe(
    'the account has reached one of its limits or has expired; upgrade or renew it, then resume',
  );
});

test.each<[StopReason, string, string]>([
  [
    'wrong-organization',
    'a credential belongs to another organization; check whether the rows of a file have shifted by one, then resume (A-1 (Acme), A-2)',
    'A-1 (Acme), A-2',
  ],
  [
    'too-many-failures',
    'too many companies were not moved; find out why, then resume to accept these failures (5 of 9)',
    '5 of 9',
  ],
])('the numbers of a pause of %s that an earlier version recorded are shown', (reason, stored, numbers) => {
  expect(stopNumbersIn(stored, reason)).toBe(numbers);
  expect(shownStopText(reason, stored)).toContain(` (${numbers}); `);
});
