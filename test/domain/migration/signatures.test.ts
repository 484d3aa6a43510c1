/** Tests which signed decisions are accepted, and which are refused without any effect. */
import { parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Approver } from '../../../domain/migration/approvers';
import { parseSigned, bytesToSign } from '../../../domain/migration/signatures';
import { createTrailVerifier, type TrailEntry } from '../../../domain/decisions/audit-trail';
import { createSigningKey, parseSigningKey, Secret, type SigningKey } from '../../../security';
import { AT, stateAt } from '../../support/migrations/migration-states';

const ID = 'acme.xero';
const SAM = parseSigningKey(new Secret(createSigningKey('Sam')));
const EVE = parseSigningKey(new Secret(createSigningKey('Sam')));
const APPROVERS: readonly Approver[] = [{ role: 'support', by: 'Sam', publicKey: SAM.publicKey }];
const RULES = { requireDigest: false, fourEyes: false, approvers: APPROVERS };

type Fields = Readonly<Record<string, unknown>>;

const content = (changes: Fields = {}): Fields => ({
  decisionId: 'd-1',
  role: 'support',
  by: 'Sam',
  reason: 'tea',
  signedAt: '2026-03-02T10:00:00.000Z',
  ...changes,
});

interface SignedAs {
  readonly key?: SigningKey;
  readonly message?: DecisionMessage;
  readonly migrationId?: string;
}

const signed = (changes: Fields = {}, { key = SAM, message = 'pause', migrationId = ID }: SignedAs = {}): Fields => {
  const fields = content(changes);
  const value = key.sign(bytesToSign(migrationId, { message, content: fields }));
  return { ...fields, signature: { publicKey: key.publicKey, value } };
};

function received(state: MigrationState, input: Fields, message: DecisionMessage = 'pause'): MigrationState {
  const parsed = parseDecision(message, input, () => 'fresh');
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  return decide(state, parsed.decision, AT, RULES, { migrationId: ID, signed: parseSigned(message, input) });
}

const START = stateAt('supply-details');
const resultOf = (state: MigrationState, id = 'd-1'): string => {
  const outcome = outcomeOf(state, id);
  return outcome?.applied ? 'applied' : (outcome?.text ?? 'not there');
};

test('a decision that an approver has signed is applied and recorded with its signature', () => {
  const state = received(START, signed());
  expect(resultOf(state)).toBe('applied');
  expect(state.pausesByPeople).toMatchObject([{ by: 'Sam', reason: 'tea' }]);
  expect(state.unrecorded.at(-1)?.signed).toEqual({
    message: 'pause',
    content: content(),
    signature: { publicKey: SAM.publicKey, value: expect.any(String) as string },
  });
});

test('the order of fields does not change the signature', () => {
  const { signature, ...fields } = signed();
  const reversed = Object.fromEntries(Object.entries(fields).reverse());
  expect(resultOf(received(START, { ...reversed, signature }))).toBe('applied');
});

const altered = (change: Fields): Fields => ({ ...signed(), ...change });

test.each<[string, Fields, RegExp]>([
  ['is not signed', content(), /must be signed by an approver; this one is not$/],
  ['has a malformed signature', altered({ signature: 'not a signature' }), /must be signed/],
  ['is signed with an unknown key', signed({}, { key: EVE }), /does not belong to an approver/],
  [
    'claims to be signed with another key',
    altered({ signature: { ...(signed({}, { key: EVE })['signature'] as Fields), publicKey: SAM.publicKey } }),
    /does not match/,
  ],
  ['was signed for another migration', signed({}, { migrationId: 'other.xero' }), /does not match/],
  ['was signed as another message', signed({}, { message: 'resume' }), /does not match/],
  ['was altered after it was signed', altered({ reason: 'coffee' }), /does not match/],
  [
    'has a different time from the signed one',
    altered({ decisionId: 'd-1', signedAt: '2026-03-02T10:00:01.000Z' }),
    /does not match/,
  ],
  [
    'names a person other than the owner of its key',
    signed({ by: 'Pia' }),
    /with the key of "Sam" \(support\), but was made as "Pia" \(support\)/,
  ],
  [
    'names a person whose name differs only in white space',
    signed({ by: 'Sam\t ' }),
    /with the key of "Sam" \(support\), but was made as "Sam\\t " \(support\)/,
  ],
  [
    'names a role other than that of its key',
    signed({ role: 'client' }),
    /with the key of "Sam" \(support\), but was made as "Sam" \(client\)/,
  ],
  ['has no signing time', signed({ signedAt: undefined }), /must say when/],
])('a decision that %s is refused and recorded', (_, input, why) => {
  const state = received(START, input);
  expect(resultOf(state)).toMatch(why);
  expect(state.pausesByPeople).toEqual([]);
  expect(state.unrecorded).toHaveLength(1);
});

test('the signature of an approval is invalid for another step', () => {
  const input = signed({ step: 'supply-details' }, { message: 'approve' });
  expect(resultOf(received(START, { ...input, step: 'schedule' }, 'approve'))).toMatch(/does not match/);
});

const paused = received(START, signed());
const resumed = received(
  paused,
  signed({ decisionId: 'd-2', signedAt: '2026-03-02T11:00:00.000Z' }, { message: 'resume' }),
  'resume',
);

test('a replayed decision changes nothing, even if its outcome is no longer kept', () => {
  expect(resultOf(resumed, 'd-2')).toBe('applied');
  expect(received(resumed, signed())).toBe(resumed);
  const withoutOutcomes = { ...resumed, outcomes: [] };
  expect(resultOf(received(withoutOutcomes, signed()))).toMatch(
    /has already signed a decision at the same time or later/,
  );
});

describe('an exported audit trail', () => {
  const entryOf = (state: MigrationState): TrailEntry => {
    const recorded = state.unrecorded.at(-1);
    if (!recorded) throw new Error('no decision was recorded');
    const { outcome, ...entry } = recorded;
    return JSON.parse(JSON.stringify({ ...entry, applied: outcome.applied })) as TrailEntry;
  };
  const unsigned = received(START, content());
  function problems(entries: readonly TrailEntry[], approvers = APPROVERS): readonly (string | null)[] {
    const verifier = createTrailVerifier(ID, approvers);
    return entries.map((entry) => {
      const result = verifier.verify(entry);
      return result.proof === 'none' ? result.why : null;
    });
  }

  test('is verified with the public keys, and refused decisions need no signature', () => {
    expect(problems([entryOf(unsigned), { ...entryOf(paused) }].slice(1))).toEqual([null]);
    expect(problems([entryOf(paused), entryOf(resumed)])).toEqual([null, null]);
    expect(problems([entryOf(unsigned)])).toEqual([null]);
  });

  test.each<[string, readonly TrailEntry[], RegExp]>([
    ['a refused decision is changed to applied', [{ ...entryOf(unsigned), applied: true }], /is not signed/],
    [
      'a name is changed',
      [{ ...entryOf(paused), decision: { ...entryOf(paused).decision, by: 'Pia' } }],
      /differs from the recorded decision/,
    ],
    ['an entry is repeated', [entryOf(paused), entryOf(paused)], /twice/],
    ['two entries are swapped', [entryOf(resumed), entryOf(paused)], /out of order/],
  ])('fails verification if %s', (_, entries, why) => {
    expect(problems(entries).at(-1)).toMatch(why);
  });

  test('fails verification with other keys', () => {
    expect(problems([entryOf(paused)], [{ role: 'support', by: 'Sam', publicKey: EVE.publicKey }])[0]).toMatch(
      /does not belong to an approver/,
    );
  });
});
