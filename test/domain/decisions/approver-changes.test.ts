/** Tests adding and removing approvers during a migration, and which decisions are accepted afterwards. */
import { removalDeadlock } from '../../../domain/decisions/approver-changes';
import type { EarlierActors } from '../../../domain/decisions/guards';
import { decide, outcomeOf, withLedgerOutcomes } from '../../../domain/decisions/decide';
import { approverFingerprint, type Approver } from '../../../domain/migration/approvers';
import { parseDecision } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { parseSigned } from '../../../domain/migration/signatures';
import { momentText } from '../../../domain/text/sentences';
import { AT, stateAt, withoutRecord } from '../../support/migrations/migration-states';
import { BY_CLEO, BY_SAM, CLEO, SAM, SIGNED } from '../../support/migrations/signed-decisions';
import {
  ID,
  NEW_CLEO,
  DANA,
  BY_DANA,
  OF_CLEO,
  OF_NEW_CLEO,
  OF_DANA,
  OF_SAM,
  SIGNED_BY_SAM,
  input,
  receive,
  run,
  add,
  remove,
  pauseBy,
  resumeBy,
  sent,
} from './approver-decisions';

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
      `Sam removed this key of Cleo (client) at ${momentText(AT)}; sign with another key, or ask support to add this key again`,
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
  const why = 'this key belongs to Dana (client); use this name and role, or another key';
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

test('the outcome names the person and the fingerprint of the key', () => {
  const { state } = run(DEFAULT_DECISION_RULES, add(OF_CLEO));
  const fingerprint = approverFingerprint(OF_CLEO);
  expect(fingerprint).toMatch(/^([0-9a-f]{4}-){7}[0-9a-f]{4}$/);
  expect(state.outcomes.at(-1)?.text).toBe(`Cleo (client) added as an approver, key ${fingerprint}`);
});

test('the outcome of a key that was added again says that its owner was already an approver', () => {
  const textOf = (...args: Parameters<typeof run>) => run(...args).state.outcomes.at(-1)?.text;
  const cleo = `was already an approver, key ${approverFingerprint(OF_CLEO)}`;
  expect(textOf(DEFAULT_DECISION_RULES, add(OF_CLEO), add(OF_CLEO))).toBe(`Cleo (client) ${cleo}`);
  const sam = `was already an approver, key ${approverFingerprint(OF_SAM)}`;
  expect(textOf(SIGNED_BY_SAM, add(OF_SAM, SAM))).toBe(`Sam (support) ${sam}`);
  const readded = [add(OF_CLEO), add(OF_NEW_CLEO), remove(OF_CLEO), add(OF_CLEO)];
  expect(textOf(DEFAULT_DECISION_RULES, ...readded)).toMatch(/^Cleo \(client\) added as an approver, /);
});

describe('under the four-eyes rule, the key of an approver', () => {
  const person = (role: 'client' | 'support', by: string) => ({ role, by, publicKey: by });
  const [sam, ann] = [person('support', 'Sam'), person('support', 'Ann')];
  const [cleo, carl] = [person('client', 'Cleo'), person('client', 'Carl')];
  const NOTHING = { approvals: [], proposal: null, suppliers: ['Mia'] };
  const accepted = { step: 'supply-details', role: 'support', by: 'Ann', at: AT } as const;
  const approvedStart = { step: 'schedule', role: 'client', by: 'Cleo', at: AT } as const;
  const whyNot = (approvers: readonly Approver[], removed: Approver, earlier: EarlierActors, fourEyes = true) =>
    removalDeadlock({ ...SIGNED, fourEyes }, { approvers, mustSign: ['client', 'support'] }, removed, earlier);
  const NO_OTHER =
    'under the four-eyes rule, no other approver for support can approve step 1 (supply details); add another approver before you remove this key';

  test('cannot be removed if every other approver of the role has supplied details', () => {
    const supplied = { ...NOTHING, suppliers: ['Mia', 'Sam'] };
    expect(whyNot([sam, ann, cleo, carl], ann, supplied)).toBe(NO_OTHER);
    expect(whyNot([sam, ann, cleo, carl], ann, supplied, false)).toBeNull();
    expect(whyNot([sam, ann, cleo, carl], sam, supplied)).toBeNull();
    expect(whyNot([sam, ann, cleo, carl], ann, { ...supplied, approvals: [accepted] })).toBeNull();
    // The role cannot decide even now, so the removal changes nothing.
    expect(whyNot([sam, ann, cleo, carl], ann, { ...supplied, suppliers: ['Sam', 'Ann'] })).toBeNull();
  });

  test('cannot be removed if every other approver of the role has proposed the time', () => {
    const proposed = { ...NOTHING, approvals: [accepted], proposal: { by: 'Cleo' } };
    expect(whyNot([sam, ann, cleo, carl], carl, proposed)).toContain('no other approver for the client can approve');
    expect(whyNot([sam, ann, cleo, carl], cleo, proposed)).toBeNull();
  });

  test('cannot be removed if fewer than three people would be left to propose and approve a time', () => {
    expect(whyNot([sam, ann, cleo], ann, NOTHING)).toContain('a start time needs three approvers');
    expect(whyNot([sam, ann, cleo, carl], carl, NOTHING)).toBeNull();
    const proposed = { ...NOTHING, approvals: [accepted, approvedStart], proposal: { by: 'Ann' } };
    expect(whyNot([sam, ann, cleo], ann, proposed)).toBeNull();
  });
});
