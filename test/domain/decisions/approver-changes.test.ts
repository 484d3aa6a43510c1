/** Tests adding and removing approvers during a migration, and which decisions are accepted afterwards. */
import { decide, outcomeOf, withLedgerOutcomes } from '../../../domain/decisions/decide';
import type { TrailEntry } from '../../../domain/decisions/audit-trail';
import { createTrailVerifier } from '../../../domain/decisions/audit-trail';
import type { Approver } from '../../../domain/migration/approvers';
import { approverFingerprint } from '../../../domain/migration/approvers';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { parseDecision } from '../../../domain/migration/parse-decision';
import type { DecisionRules } from '../../../domain/migration/plan';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { bytesToSign, parseSigned } from '../../../domain/migration/signatures';
import type { SigningKey } from '../../../security';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { AT, stateAt, withoutRecord } from '../../support/migrations/migration-states';
import { BY_CLEO, BY_SAM, CLEO, SAM, SIGNED } from '../../support/migrations/signed-decisions';

const ID = 'acme.xero';
const NEW_CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
const DANA = parseSigningKey(new Secret(createSigningKey('Dana')));
const BY_DANA = { role: 'client', by: 'Dana' } as const;
const OF_CLEO: Approver = { ...BY_CLEO, publicKey: CLEO.publicKey };
const OF_NEW_CLEO: Approver = { ...BY_CLEO, publicKey: NEW_CLEO.publicKey };
const OF_DANA: Approver = { ...BY_DANA, publicKey: DANA.publicKey };
const OF_SAM: Approver = { ...BY_SAM, publicKey: SAM.publicKey };
const SIGNED_BY_SAM: DecisionRules = { ...DEFAULT_DECISION_RULES, approvers: [OF_SAM] };

type Key = SigningKey | null;
type SentDecision = readonly [message: DecisionMessage, fields: object, key: Key];

let sent = 0;

function input([message, fields, key]: SentDecision): Readonly<Record<string, unknown>> {
  sent += 1;
  const content = { decisionId: `d-${sent}`, signedAt: new Date(Date.parse(AT) + sent).toISOString(), ...fields };
  const value = key?.sign(bytesToSign(ID, { message, content }));
  return key ? { ...content, signature: { publicKey: key.publicKey, value } } : content;
}

function receive(state: MigrationState, sentDecision: SentDecision, rules: DecisionRules): MigrationState {
  const [message] = sentDecision;
  const content = input(sentDecision);
  const parsed = parseDecision(message, content, () => '');
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  return decide(state, parsed.decision, AT, rules, { migrationId: ID, signed: parseSigned(message, content) });
}

/** Sends decisions in order. Returns the last state, and for each decision `applied` or why it was refused. */
function run(rules: DecisionRules, ...sentDecisions: readonly SentDecision[]) {
  let state = stateAt('schedule');
  const results = sentDecisions.map((sentDecision) => {
    state = receive(state, sentDecision, rules);
    const outcome = outcomeOf(state, `d-${sent}`);
    return outcome?.applied ? 'applied' : outcome?.text;
  });
  return { state, results };
}

const add = (approver: Approver, key: Key = null): SentDecision => ['addApprover', { approver, ...BY_SAM }, key];
const remove = (approver: Approver, key: Key = null): SentDecision => ['removeApprover', { approver, ...BY_SAM }, key];
const pauseBy = (by: object, key: Key): SentDecision => ['pause', by, key];
const resumeBy = (by: object, key: Key): SentDecision => ['resume', by, key];

describe('in a migration that was started without approvers', () => {
  const rules = DEFAULT_DECISION_RULES;

  test('the client must sign once support has added its first approver, and support need not sign', () => {
    const { results } = run(
      rules,
      pauseBy(BY_CLEO, null),
      resumeBy(BY_CLEO, NEW_CLEO),
      add(OF_CLEO),
      pauseBy(BY_CLEO, null),
      pauseBy(BY_CLEO, NEW_CLEO),
      pauseBy(BY_DANA, CLEO),
      pauseBy(BY_CLEO, CLEO),
      resumeBy(BY_SAM, null),
    );
    expect(results).toEqual([
      'applied',
      'applied',
      'applied',
      'decisions of the client in this migration must be signed by an approver; this one is not',
      'this decision is signed with a key that does not belong to an approver of this migration',
      'the decision is signed with the key of "Cleo" (client), but was made as "Dana" (client)',
      'applied',
      'applied',
    ]);
  });

  test('no approver of support can be added, because anyone could lock support out', () => {
    expect(run(rules, add(OF_SAM)).results).toEqual([
      'approvers for support can be added only if the migration was started with approvers',
    ]);
  });

  test('only support can add or remove an approver', () => {
    const { results } = run(
      rules,
      ['addApprover', { approver: OF_CLEO, ...BY_CLEO }, null],
      ['removeApprover', { approver: OF_CLEO, ...BY_CLEO }, null],
    );
    expect(results).toEqual(['only support can add or remove approvers', 'only support can add or remove approvers']);
  });

  test('a valid signature that is not required is recorded, and an invalid signature is not', () => {
    const { state } = run(rules, pauseBy(BY_CLEO, CLEO));
    expect(state.unrecorded.at(-1)?.signed).toMatchObject({ signature: { publicKey: CLEO.publicKey } });
    const forged = { ...input(pauseBy(BY_CLEO, DANA)), by: 'Cleo', reason: 'changed after it was signed' };
    const parsed = parseDecision('pause', forged, () => '');
    if ('malformed' in parsed) throw new Error(parsed.malformed);
    const source = { migrationId: ID, signed: parseSigned('pause', forged) };
    const after = decide(stateAt('schedule'), parsed.decision, AT, rules, source);
    expect(outcomeOf(after, parsed.decision.decisionId)).toMatchObject({ applied: true });
    expect(after.unrecorded.at(-1)).not.toHaveProperty('signed');
    expect(after.lastSigned).toBeUndefined();
  });
});

describe('in a migration that was started with approvers', () => {
  test('a signed decision of support adds the first approver of the client', () => {
    const { results } = run(
      SIGNED_BY_SAM,
      pauseBy(BY_CLEO, CLEO),
      add(OF_CLEO, null),
      add(OF_CLEO, CLEO),
      add(OF_CLEO, SAM),
      pauseBy(BY_CLEO, CLEO),
    );
    expect(results).toEqual([
      'this decision is signed with a key that does not belong to an approver of this migration',
      'decisions in this migration must be signed by an approver; this one is not',
      'this decision is signed with a key that does not belong to an approver of this migration',
      'applied',
      'applied',
    ]);
  });

  test('a removed key is refused, even a key from the start, and the last key of a role cannot be removed', () => {
    const { results } = run(
      SIGNED,
      remove(OF_CLEO, SAM),
      add(OF_NEW_CLEO, SAM),
      pauseBy(BY_CLEO, CLEO),
      remove(OF_CLEO, SAM),
      resumeBy(BY_CLEO, CLEO),
      resumeBy(BY_CLEO, NEW_CLEO),
      remove(OF_SAM, SAM),
    );
    expect(results).toEqual([
      'this is the last key of an approver for the client; add another key before you remove this key',
      'applied',
      'applied',
      'applied',
      'this decision is signed with a key that does not belong to an approver of this migration',
      'applied',
      'this is the last key of an approver for support; add another key before you remove this key',
    ]);
  });

  test('a decision that was signed before its key was removed is refused if the key is added again', () => {
    const { state } = run(SIGNED, add(OF_DANA, SAM), pauseBy(BY_DANA, DANA), remove(OF_DANA, SAM), add(OF_DANA, SAM));
    const old = { ...BY_DANA, decisionId: 'old', signedAt: '2026-01-01T00:00:00.000Z' };
    const after = receive(state, ['resume', old, DANA], SIGNED);
    expect(outcomeOf(after, 'old')?.text).toMatch(/out of order/);
  });
});

test('a key that is added or removed again changes nothing, and a key never changes its owner', () => {
  const { results, state } = run(
    SIGNED,
    add(OF_DANA, SAM),
    add(OF_DANA, SAM),
    add({ ...OF_DANA, by: 'Cleo' }, SAM),
    remove({ ...OF_DANA, role: 'support' }, SAM),
    remove(OF_DANA, SAM),
    remove(OF_DANA, SAM),
    pauseBy(BY_CLEO, CLEO),
  );
  const why = 'this key belongs to Dana (client)';
  expect(results).toEqual(['applied', 'applied', why, why, 'applied', 'applied', 'applied']);
  expect(JSON.parse(JSON.stringify(state))).toEqual(state);
});

test('an approver whom the ledger refuses is removed again', () => {
  const before = stateAt('schedule');
  const after = receive(before, add(OF_CLEO), DEFAULT_DECISION_RULES);
  const outcomes = after.unrecorded.map(({ outcome }) => ({ ...outcome, applied: false, text: 'no' }));
  const undone = withLedgerOutcomes(after, outcomes, DEFAULT_DECISION_RULES);
  expect({ ...withoutRecord(undone), approverChanges: undefined }).toEqual(withoutRecord(before));
  const next = receive(undone, pauseBy(BY_CLEO, null), DEFAULT_DECISION_RULES);
  expect(outcomeOf(next, `d-${sent}`)?.applied).toBe(true);
});

test.each<[string, unknown, RegExp]>([
  ['nothing', undefined, /role of the approver/],
  ['another role', { ...OF_CLEO, role: 'viewer' }, /role of the approver must be client or support/],
  ['no name', { ...OF_CLEO, by: ' ' }, /must be a name/],
  ['a short key', { ...OF_CLEO, publicKey: 'ab' }, /must be an Ed25519 public key/],
  ['a key that is not a point on the curve', { ...OF_CLEO, publicKey: `02${'0'.repeat(62)}` }, /must be an Ed25519/],
  ['a key for which anyone can sign', { ...OF_CLEO, publicKey: `01${'0'.repeat(62)}` }, /must be an Ed25519/],
])('an approver with %s is malformed', (_, approver, why) => {
  expect(parseDecision('addApprover', { approver, ...BY_SAM }, () => '')).toEqual({
    malformed: expect.stringMatching(why) as string,
  });
});

describe('the verification of an exported trail', () => {
  function trailOf(rules: DecisionRules, ...sentDecisions: readonly SentDecision[]): readonly TrailEntry[] {
    const { unrecorded } = run(rules, ...sentDecisions).state;
    return unrecorded.map(({ decision, outcome, signed }) => ({
      decision,
      applied: outcome.applied,
      at: outcome.at,
      ...(signed ? { signed } : {}),
    }));
  }
  function verify(given: readonly Approver[], trail: readonly TrailEntry[]) {
    const verifier = createTrailVerifier(ID, given);
    const results = trail.map((entry) => {
      const result = verifier.verify(entry);
      return result.proof === 'none' ? result.why : result.proof;
    });
    return { results, added: verifier.added(), approvers: verifier.approvers(), notGiven: verifier.notGiven() };
  }
  const withAddition = trailOf(SIGNED_BY_SAM, add(OF_CLEO, SAM), pauseBy(BY_CLEO, CLEO));

  test('trusts an approver whom support has added with a signed decision, and reports them', () => {
    expect(verify([OF_SAM], withAddition)).toEqual({
      results: ['signed', 'signed'],
      added: [OF_CLEO],
      approvers: [OF_SAM, OF_CLEO],
      notGiven: [],
    });
  });

  test.each<[string, readonly TrailEntry[]]>([
    ['was removed from the trail', withAddition.slice(1)],
    ['was refused', withAddition.map((entry, index) => (index === 0 ? { ...entry, applied: false } : entry))],
    [
      'is not signed',
      withAddition.map(({ signed, ...entry }, index) =>
        index === 0 ? entry : { ...entry, ...(signed && { signed }) },
      ),
    ],
    ['comes later', [...withAddition].reverse()],
  ])('does not trust an approver whose addition %s', (_, trail) => {
    const ofPause = trail.findIndex(({ decision }) => decision.kind === 'pause');
    expect(verify([OF_SAM], trail).results[ofPause]).toMatch(/does not belong to an approver/);
  });

  test('does not trust an approver whom an approver of the client has added', () => {
    const fields = { decisionId: 'x', signedAt: AT, approver: OF_DANA, ...BY_CLEO };
    const parsed = parseDecision('addApprover', fields, () => '');
    if ('malformed' in parsed) throw new Error(parsed.malformed);
    const signed = parseSigned('addApprover', input(['addApprover', fields, CLEO]));
    const forged: TrailEntry = { decision: parsed.decision, applied: true, at: AT, ...(signed && { signed }) };
    expect(verify([OF_SAM, OF_CLEO], [forged]).added).toEqual([]);
  });

  test('refuses decisions that were signed with a removed key', () => {
    const trail = trailOf(SIGNED, add(OF_DANA, SAM), pauseBy(BY_DANA, DANA), remove(OF_DANA, SAM));
    const [later] = trailOf({ ...SIGNED, approvers: [OF_DANA] }, resumeBy(BY_DANA, DANA));
    if (!later) throw new Error('no decision was recorded');
    const { results, added } = verify(SIGNED.approvers ?? [], [...trail, { ...later, applied: true }]);
    expect(results).toEqual(['signed', 'signed', 'signed', expect.stringMatching(/does not belong to an approver/)]);
    expect(added).toEqual([OF_DANA]);
  });

  test('with only a key of the client, verifies all decisions of the client, and none of support', () => {
    const trail = trailOf(
      DEFAULT_DECISION_RULES,
      pauseBy(BY_CLEO, CLEO),
      resumeBy(BY_SAM, null),
      add(OF_CLEO),
      pauseBy(BY_CLEO, CLEO),
      resumeBy(BY_SAM, SAM),
      pauseBy(BY_CLEO, null),
    );
    const expected = ['signed', 'unverified', 'unverified', 'signed', 'unverified', 'refused'];
    expect(verify([OF_CLEO], trail).results).toEqual(expected);
    const unsigned = trailOf(DEFAULT_DECISION_RULES, pauseBy(BY_CLEO, null));
    expect(verify([OF_CLEO], unsigned).results).toEqual(['this decision was applied but is not signed']);
  });

  test('does not trust a key that only an unsigned decision has added', () => {
    const trail = trailOf(DEFAULT_DECISION_RULES, add(OF_CLEO), add(OF_DANA), pauseBy(BY_DANA, DANA));
    const { results, notGiven } = verify([OF_CLEO], trail);
    expect(results.at(-1)).toBe(
      `this decision is signed with a key that you did not pass with --approver: ${approverFingerprint(OF_DANA)}, which support added for Dana (client)`,
    );
    expect(notGiven).toEqual([OF_DANA]);
    expect(verify([OF_CLEO, OF_DANA], trail)).toMatchObject({
      results: ['unverified', 'unverified', 'signed'],
      notGiven: [],
    });
  });

  test('a key that was neither given nor added is not said to belong to nobody', () => {
    const [later] = trailOf({ ...SIGNED, approvers: [OF_DANA] }, pauseBy(BY_DANA, DANA));
    expect(verify([OF_CLEO], later ? [later] : [])).toMatchObject({
      results: [
        'this decision is signed with a key that does not belong to an approver whom you passed with --approver',
      ],
      notGiven: [],
    });
  });
});

test('the outcome names the person and the fingerprint of the key', () => {
  const { state } = run(DEFAULT_DECISION_RULES, add(OF_CLEO));
  const fingerprint = approverFingerprint(OF_CLEO);
  expect(fingerprint).toMatch(/^([0-9a-f]{4}-){7}[0-9a-f]{4}$/);
  expect(state.outcomes.at(-1)?.text).toBe(`Cleo (client) added as an approver, key ${fingerprint}`);
});
