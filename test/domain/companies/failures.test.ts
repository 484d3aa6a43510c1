/** The table of "Failures" in the design, row by row. */
import fc from 'fast-check';
import type { CallFailure } from '../../../domain/companies/call-failure';
import type { Call, Consequence, FailureKind, StopReason } from '../../../domain/companies/failures';
import { consequenceOf, consequenceOfLinkError, failureText, stopReasonText } from '../../../domain/companies/failures';

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

const answer = (status: number, more: Partial<Extract<CallFailure, { kind: 'answer' }>> = {}): CallFailure => ({
  kind: 'answer',
  status,
  error: 'something',
  service: 'PublicApi',
  ...more,
});
const noAnswer = (reason: 'time-out' | 'dropped' | 'refused'): CallFailure => ({ kind: 'no-answer', reason });
const UNREADABLE: CallFailure = { kind: 'unreadable', status: 200 };
const UNSUPPORTED = 'Datatype invoices not supported by platform(s) Plaid';

const FAIL: Consequence = { then: 'fail', kind: 'refused' };
const KEY: Consequence = { then: 'stop', reason: 'key-refused' };
const ACCOUNT: Consequence = { then: 'stop', reason: 'account-limit' };
const AGAIN: Consequence = { then: 'again' };
const LOOK: Consequence = { then: 'look' };
const SYNCING: Consequence = { then: 'syncing' };

const TABLE: readonly [string, CallFailure, readonly Call[], Consequence][] = [
  ['400', answer(400), CALLS, FAIL],
  ['404 of the company', answer(404), CALLS, FAIL],
  ['405', answer(405), CALLS, FAIL],
  ['404 data type not supported', answer(404, { error: UNSUPPORTED }), CALLS, { then: 'not-applicable' }],
  ['401', answer(401), CALLS, KEY],
  ['402', answer(402), CALLS, ACCOUNT],
  ['403 of the key', answer(403), CALLS, KEY],
  ['403 of a proxy', answer(403, { service: '' }), CALLS, KEY],
  ['403 of the platform, which cannot be reached', answer(403, { service: 'QuickBooks Online' }), CALLS, AGAIN],
  ['409 on starting the syncs', answer(409), ['start-sync'], LOOK],
  ['409 on reading data', answer(409), ['read-sync', 'read-records'], SYNCING],
  ['409 of a key under way', answer(409), except('start-sync', 'read-sync', 'read-records'), AGAIN],
  ['429', answer(429), CALLS, AGAIN],
  ['429 with Retry-After', answer(429, { retryAfterMs: 90_000 }), CALLS, { then: 'again', afterMs: 90_000 }],
  ['500', answer(500), except('authorize'), AGAIN],
  ['500 on the authorization', answer(500), ['authorize'], LOOK],
  ['502', answer(502), except('authorize'), AGAIN],
  ['503', answer(503), except('authorize'), AGAIN],
  ['503 on the authorization', answer(503), ['authorize'], LOOK],
  ['503 with Retry-After', answer(503, { retryAfterMs: 5_000 }), ['read-sync'], { then: 'again', afterMs: 5_000 }],
  ['time-out', noAnswer('time-out'), except('authorize'), AGAIN],
  ['time-out of the authorization', noAnswer('time-out'), ['authorize'], LOOK],
  ['dropped connection', noAnswer('dropped'), except('authorize'), AGAIN],
  ['dropped connection of the authorization', noAnswer('dropped'), ['authorize'], LOOK],
  ['refused connection', noAnswer('refused'), CALLS, AGAIN],
  ['success that cannot be read', UNREADABLE, except('authorize'), AGAIN],
  ['success that cannot be read, of the authorization', UNREADABLE, ['authorize'], LOOK],
  ['a redirect', answer(302), CALLS, FAIL],
  ['410', answer(410), CALLS, FAIL],
];

test.each(
  TABLE.flatMap(([what, failure, calls, expected]) => calls.map((call) => [what, call, failure, expected] as const)),
)('%s: %s', (_, call, failure, expected) => {
  expect(consequenceOf(call, failure)).toEqual(expected);
});

test.each<[string | undefined, Consequence]>([
  ['GrantRefused', { then: 'fail', kind: 'reauthorization-required' }],
  ['ApplicationRefused', { then: 'stop', reason: 'application-refused' }],
  ['WrongOrganization', { then: 'fail-and-stop', kind: 'wrong-organization', reason: 'wrong-organization' }],
  ['PlatformUnavailable', AGAIN],
  ['PlatformRateLimited', AGAIN],
  ['SomethingNew', FAIL],
  [undefined, FAIL],
])('a connection that is not linked because of %s', (statusText, expected) => {
  expect(consequenceOfLinkError(statusText)).toEqual(expected);
});

const anyFailure: fc.Arbitrary<CallFailure> = fc.oneof(
  fc.record({
    kind: fc.constant('answer'),
    status: fc.integer({ min: 100, max: 999 }),
    error: fc.string(),
    service: fc.string(),
  }),
  fc.record({ kind: fc.constant('no-answer'), reason: fc.constantFrom('time-out', 'dropped', 'refused') }),
  fc.record({ kind: fc.constant('unreadable'), status: fc.integer({ min: 200, max: 299 }) }),
);

test('after the credential may have been used, it is never simply sent again', () => {
  const neverUsed = (failure: CallFailure): boolean =>
    failure.kind === 'no-answer' ? failure.reason === 'refused' : failure.kind === 'answer' && failure.status < 500;
  fc.assert(
    fc.property(anyFailure, (failure) => {
      const { then } = consequenceOf('authorize', failure);
      if (then === 'again') expect(neverUsed(failure)).toBe(true);
    }),
  );
});

test('every reason is told in words that say what to do, and in no word of the inside', () => {
  const kinds: readonly FailureKind[] = [
    'refused',
    'credential-unreadable',
    'reauthorization-required',
    'wrong-organization',
    'incomplete',
    'sync-failed',
    'sync-timed-out',
  ];
  const reasons: readonly StopReason[] = ['key-refused', 'account-limit', 'application-refused', 'wrong-organization'];
  const told = [...kinds.map(failureText), ...reasons.map(stopReasonText)];
  expect(new Set(told).size).toBe(told.length);
  for (const words of told) expect(words).not.toMatch(/ledger|vault|slice|crossing|digest|PendingAuth/i);
  for (const words of reasons.map(stopReasonText)) expect(words).toMatch(/, then resume$/);
});
