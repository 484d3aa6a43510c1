/** Decisions that have to be signed: what is taken, and what is refused, recorded and changes nothing. */
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { parseDecision } from '../../../domain/migration/parse-decision';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Approver } from '../../../domain/migration/signatures';
import { readSigned, signedText } from '../../../domain/migration/signatures';
import type { TrailEntry } from '../../../domain/decisions/audit-verification';
import { createTrailVerifier } from '../../../domain/decisions/audit-verification';
import type { SigningKey } from '../../../security';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { AT, stateAt } from '../../support/migration-states';

const ID = 'acme.xero';
const SAM = parseSigningKey(new Secret(createSigningKey('Sam')));
const EVE = parseSigningKey(new Secret(createSigningKey('Sam')));
const APPROVERS: readonly Approver[] = [{ role: 'support', by: 'Sam', publicKey: SAM.publicKey }];
const RULES = { digestObligatory: false, fourEyes: false, approvers: APPROVERS };

type Fields = Readonly<Record<string, unknown>>;

const content = (some: Fields = {}): Fields => ({
  decisionId: 'd-1',
  role: 'support',
  by: 'Sam',
  reason: 'tea',
  signedAt: '2026-03-02T10:00:00.000Z',
  ...some,
});

interface SignedAs {
  readonly key?: SigningKey;
  readonly message?: DecisionMessage;
  readonly migrationId?: string;
}

const signed = (some: Fields = {}, { key = SAM, message = 'pause', migrationId = ID }: SignedAs = {}): Fields => {
  const fields = content(some);
  const value = key.sign(signedText(migrationId, { message, content: fields }));
  return { ...fields, signature: { publicKey: key.publicKey, value } };
};

function received(state: MigrationState, input: Fields, message: DecisionMessage = 'pause'): MigrationState {
  const reading = parseDecision(message, input, () => 'fresh');
  if ('malformed' in reading) throw new Error(reading.malformed);
  return decide(state, reading.decision, AT, RULES, { migrationId: ID, signed: readSigned(message, input) });
}

const START = stateAt('supply-details');
const became = (state: MigrationState, id = 'd-1'): string => {
  const outcome = outcomeOf(state, id);
  return outcome?.applied ? 'applied' : (outcome?.text ?? 'not there');
};

test('a decision that its approver has signed is applied, and kept as it was signed', () => {
  const state = received(START, signed());
  expect(became(state)).toBe('applied');
  expect(state.pause).toMatchObject({ by: 'Sam', reason: 'tea' });
  expect(state.unrecorded.at(-1)?.signed).toEqual({
    message: 'pause',
    content: content(),
    signature: { publicKey: SAM.publicKey, value: expect.any(String) as string },
  });
});

test('what was typed in another order is signed all the same', () => {
  const { signature, ...fields } = signed();
  const reversed = Object.fromEntries(Object.entries(fields).reverse());
  expect(became(received(START, { ...reversed, signature }))).toBe('applied');
});

const altered = (change: Fields): Fields => ({ ...signed(), ...change });

test.each<[string, Fields, RegExp]>([
  ['is not signed', content(), /have to be signed, and this one is not/],
  ['has a signature that is none', altered({ signature: 'mine' }), /have to be signed/],
  ['is signed with a key that nobody knows', signed({}, { key: EVE }), /a key that decides nothing/],
  [
    'pretends to be signed with another key',
    altered({ signature: { ...(signed({}, { key: EVE })['signature'] as Fields), publicKey: SAM.publicKey } }),
    /does not fit/,
  ],
  ['was signed for another migration', signed({}, { migrationId: 'other.xero' }), /does not fit/],
  ['was signed as another message', signed({}, { message: 'resume' }), /does not fit/],
  ['was altered after it was signed', altered({ reason: 'coffee' }), /does not fit/],
  [
    'has another id than was signed',
    altered({ decisionId: 'd-1', signedAt: '2026-03-02T10:00:01.000Z' }),
    /does not fit/,
  ],
  ['names another person than its key', signed({ by: 'Pia' }), /that of Sam \(support\)/],
  ['names another role than its key', signed({ role: 'client' }), /that of Sam \(support\)/],
  ['does not say when it was signed', signed({ signedAt: undefined }), /does not say when/],
])('a decision that %s is refused, recorded, and changes nothing', (_, input, why) => {
  const state = received(START, input);
  expect(became(state)).toMatch(why);
  expect(state.pause).toBeNull();
  expect(state.unrecorded).toHaveLength(1);
});

test('a step that was approved is not approved for another step by the same signature', () => {
  const input = signed({ step: 'supply-details' }, { message: 'approve' });
  expect(became(received(START, { ...input, step: 'schedule' }, 'approve'))).toMatch(/does not fit/);
});

test('a decision that is replayed later changes nothing, also when the migration has forgotten it', () => {
  const paused = received(START, signed());
  const resumed = received(
    paused,
    signed({ decisionId: 'd-2', signedAt: '2026-03-02T11:00:00.000Z' }, { message: 'resume' }),
    'resume',
  );
  expect(became(resumed, 'd-2')).toBe('applied');
  expect(received(resumed, signed())).toBe(resumed);
  const forgetful = { ...resumed, outcomes: [] };
  expect(became(received(forgetful, signed()))).toMatch(/signed before another decision of the same person/);
});

describe('an exported trail', () => {
  const entryOf = (state: MigrationState): TrailEntry => {
    const recorded = state.unrecorded.at(-1);
    if (!recorded) throw new Error('nothing was recorded');
    const { outcome, ...entry } = recorded;
    return JSON.parse(JSON.stringify({ ...entry, applied: outcome.applied })) as TrailEntry;
  };
  const paused = received(START, signed());
  const resumed = received(
    paused,
    signed({ decisionId: 'd-2', signedAt: '2026-03-02T11:00:00.000Z' }, { message: 'resume' }),
    'resume',
  );
  const unsigned = received(START, content());
  const objections = (entries: readonly TrailEntry[], approvers = APPROVERS): readonly (string | null)[] =>
    entries.map(createTrailVerifier(ID, approvers));

  test('is proven by the public keys alone; what was refused needs no signature', () => {
    expect(objections([entryOf(unsigned), { ...entryOf(paused) }].slice(1))).toEqual([null]);
    expect(objections([entryOf(paused), entryOf(resumed)])).toEqual([null, null]);
    expect(objections([entryOf(unsigned)])).toEqual([null]);
  });

  test.each<[string, readonly TrailEntry[], RegExp]>([
    ['a refusal is turned into an application', [{ ...entryOf(unsigned), applied: true }], /is not signed/],
    [
      'a name is exchanged',
      [{ ...entryOf(paused), decision: { ...entryOf(paused).decision, by: 'Pia' } }],
      /something else was signed/,
    ],
    ['an entry stands there twice', [entryOf(paused), entryOf(paused)], /twice/],
    ['two entries change places', [entryOf(resumed), entryOf(paused)], /signed before another/],
  ])('is not proven when %s', (_, entries, why) => {
    expect(objections(entries).at(-1)).toMatch(why);
  });

  test('is not proven by the keys of others', () => {
    expect(objections([entryOf(paused)], [{ role: 'support', by: 'Sam', publicKey: EVE.publicKey }])[0]).toMatch(
      /decides nothing/,
    );
  });
});
