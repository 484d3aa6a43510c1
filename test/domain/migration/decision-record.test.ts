/** Tests which records of decisions are accepted, and which time is recorded. */
import { malformedRecord, parseRecord, withBoundedTime } from '../../../domain/migration/decision-record';
import type { Decision } from '../../../domain/migration/decision';
import { DECISION_MESSAGES, parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { BY_CLEO, CLEO } from '../../support/migrations/signed-decisions';

const SENT = { decisionId: 'd', role: 'support', by: 'Sam', reason: 'a \\u0000 reason', digest: 'x' } as const;
const APPROVER = { ...BY_CLEO, publicKey: CLEO.publicKey };
const AT = '2026-03-02T09:00:00.000Z';
const CONTENT: Readonly<Partial<Record<DecisionMessage, object>>> = {
  approve: { step: 'schedule' },
  reject: { step: 'migrate-first-company', next: 'another-company', company: 'R-9' },
  proposeTime: {
    startAt: '2026-03-07T20:00+01:00',
    windows: [{ days: ['sat'], from: '20:00', to: '06:00', timeZone: 'Europe/London' }],
  },
  chooseFirstCompany: { company: 'R-9' },
  confirmSyncDisabled: { companies: 'all' },
  credentialsSupplied: { companies: 3, sealedDigest: 'ab'.repeat(32) },
  applicationSupplied: { clientId: 'app', environment: 'sandbox' },
  manifestSupplied: { manifestDigest: 'ab'.repeat(32), companies: 3 },
  manifestAmended: { added: 1, corrected: 0 },
  exclude: { companies: ['R-1'] },
  skip: { companies: ['R-1'] },
  retry: { companies: ['R-1', 'R-2'] },
  relink: { companies: 'all' },
  replaceCredential: { companies: ['R-1'] },
  adjust: { limits: { slicesAtOnce: 2, windows: [] } },
  addApprover: { approver: APPROVER },
  removeApprover: { approver: APPROVER },
};

function decisionOf(message: DecisionMessage, more: object = {}): Decision {
  const parsed = parseDecision(
    message,
    { ...SENT, validUntil: '2026-03-07T20:00Z', ...CONTENT[message], ...more },
    () => '',
  );
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  return parsed.decision;
}
const recordOf = (decision: object) => ({
  decision,
  outcome: { decisionId: 'd', applied: true, text: 'done', at: AT },
});

test.each(DECISION_MESSAGES)('the decision of the message %s is accepted unchanged', (message) => {
  const record = recordOf(decisionOf(message));
  expect(parseRecord(record)).toBe(record);
});

test('a rejection that does not say what to do next is accepted, and so is a message that could not be read', () => {
  expect(parseRecord(recordOf(decisionOf('reject', { next: 'abandon' })))).not.toBeNull();
  expect(parseRecord(recordOf(decisionOf('reject', { next: undefined, step: 'schedule' })))).not.toBeNull();
  const unreadable = { kind: 'unreadable', decisionId: 'd', message: 'pause', role: null, by: null };
  expect(parseRecord(recordOf(unreadable))).not.toBeNull();
  expect(parseRecord(recordOf({ ...unreadable, message: 'terminate' }))).toBeNull();
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a text', 'approve'],
  ['an unknown kind', recordOf({ ...SENT, kind: 'constructor' })],
  ['a decision with another field', recordOf({ ...decisionOf('pause'), companies: 'all' })],
  ['a decision without a field', recordOf({ ...SENT, kind: 'retry' })],
  ['the outcome of another decision', { ...recordOf(decisionOf('pause')), outcome: { decisionId: 'e' } }],
  [
    'an outcome without a time',
    { decision: decisionOf('pause'), outcome: { decisionId: 'd', applied: true, text: '' } },
  ],
  ['a signed message without content', { ...recordOf(decisionOf('pause')), signed: { message: 'pause' } }],
  ['text that Postgres cannot store', { ...recordOf(decisionOf('pause')), more: '\0' }],
])('%s is malformed', (_, value) => {
  expect(parseRecord(value)).toBeNull();
});

test('a malformed record is refused under its id, without its content', () => {
  expect(malformedRecord(recordOf({ ...SENT, secret: 'x' }), AT)).toMatchObject({
    decision: { kind: 'unreadable', decisionId: 'd', by: null },
    outcome: { decisionId: 'd', applied: false, at: AT },
  });
  expect(malformedRecord(recordOf({ kind: 'pause' }), AT)).toBeNull();
});

test.each([
  ['2026-03-02T08:58:00.000Z', '2026-03-02T08:58:00.000Z'],
  ['2020-01-01T00:00:00.000Z', '2026-03-02T08:55:00.000Z'],
  ['2030-01-01T00:00:00.000Z', AT],
])('a stated time of %s is recorded as %s', (stated, counts) => {
  const { outcome, ...record } = recordOf(decisionOf('pause'));
  expect(withBoundedTime({ ...record, outcome: { ...outcome, at: stated } } as never, new Date(AT)).outcome.at).toBe(
    counts,
  );
});

test('a message with a character that cannot be stored is malformed, even in a field that no decision has', () => {
  const malformed = {
    malformed:
      'the message contains a NUL character (U+0000) or half of a surrogate pair (U+D800 to U+DFFF), which cannot be stored; remove it, and send the decision again',
  };
  for (const note of ['\0', '\ud800', { deep: ['\0'] }])
    expect(parseDecision('pause', { ...SENT, note }, () => '')).toEqual(malformed);
  expect(parseDecision('pause', { ...SENT, note: '\\u0000 \\\\ud800 😀' }, () => '')).toHaveProperty('decision');
});
