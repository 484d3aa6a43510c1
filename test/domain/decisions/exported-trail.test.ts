/** Tests the verification of an exported trail in which approvers are added and removed. */
import {
  createTrailVerifier,
  endBytesToSign,
  trailEndProblem,
  type TrailEntry,
} from '../../../domain/decisions/audit-trail';
import { approverFingerprint, type Approver } from '../../../domain/migration/approvers';
import { parseDecision } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES, type DecisionRules } from '../../../domain/migration/plan';
import { parseSigned } from '../../../domain/migration/signatures';
import { AT } from '../../support/migrations/migration-states';
import { BY_CLEO, BY_SAM, CLEO, SAM, SIGNED } from '../../support/migrations/signed-decisions';
import {
  ID,
  DANA,
  BY_DANA,
  OF_CLEO,
  OF_DANA,
  OF_SAM,
  SIGNED_BY_SAM,
  input,
  run,
  add,
  remove,
  pauseBy,
  resumeBy,
  type SentDecision,
} from './approver-decisions';

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
    const [notGiven, unknown] = [verifier.notGiven(), verifier.unknown()];
    return { results, added: verifier.added(), approvers: verifier.approvers(), notGiven, unknown };
  }
  const withAddition = trailOf(SIGNED_BY_SAM, add(OF_CLEO, SAM), pauseBy(BY_CLEO, CLEO));

  test('trusts an approver whom support has added with a signed decision, and reports them', () => {
    expect(verify([OF_SAM], withAddition)).toEqual({
      results: ['signed', 'signed'],
      added: [OF_CLEO],
      approvers: [OF_SAM, OF_CLEO],
      notGiven: [],
      unknown: [],
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
      unknown: [BY_DANA],
    });
  });

  test('nobody is asked for a key if the decision was changed, or if the trail adds the key without a proof', () => {
    const [pause] = trailOf({ ...SIGNED, approvers: [OF_DANA] }, pauseBy(BY_DANA, DANA));
    if (!pause) throw new Error('no decision was recorded');
    const changed = { ...pause, decision: { ...pause.decision, by: 'Eve' } } as TrailEntry;
    expect(verify([OF_CLEO], [changed]).unknown).toEqual([]);
    const unsigned = withAddition.map(({ signed, ...entry }, index) =>
      index === 0 ? entry : { ...entry, ...(signed && { signed }) },
    );
    expect(verify([OF_SAM], unsigned).unknown).toEqual([]);
  });
});

const lines = { migrationId: ID, entries: 2, sha256: 'ab'.repeat(32) };
const end = { ...lines, exportedBy: 'Sam', exportedAt: AT };
const signed = { end, signature: { publicKey: SAM.publicKey, value: SAM.sign(endBytesToSign(end)) } };

test('an export that none of the approvers signed is refused, and the text names the option that adds an approver', () => {
  expect(trailEndProblem(signed, lines, [OF_CLEO])).toBe(
    'the last line of the file is not signed by an approver whom you named with --approver, or whom support added; if you trust the person who exported the file, name this person with --approver too',
  );
});

test('an intact export whose signer was given another name is not called changed', () => {
  expect(trailEndProblem(signed, lines, [OF_SAM])).toBeNull();
  expect(trailEndProblem(signed, lines, [{ ...OF_SAM, by: 'Sam Miller' }])).toBe(
    'the last line says that Sam exported the file, but its key belongs to Sam Miller; no line was changed, so ask Sam Miller who exported it',
  );
  expect(trailEndProblem(signed, { ...lines, entries: 1 }, [OF_SAM])).toBe(
    'the file differs from what Sam exported: a line was changed, added or removed',
  );
});
