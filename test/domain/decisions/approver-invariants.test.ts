/** Tests approvers with random sequences of signed and unsigned decisions, in the workflow and in the ledger. */
import fc from 'fast-check';
import { createTrailVerifier } from '../../../domain/decisions/audit-trail';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import { NO_DECISIONS, withDecision, type RecordedDecisions } from '../../../domain/decisions/release';
import {
  ledgerRefusal,
  ledgerSigning,
  withoutInvalidSignature,
  type LedgerView,
} from '../../../domain/decisions/verification';
import { approverWithKey, signingRules, type Approver } from '../../../domain/migration/approvers';
import { parseDecision } from '../../../domain/migration/parse-decision';
import { bytesToSign, parseSigned, withLastSigned, type LastSigned } from '../../../domain/migration/signatures';
import { ROLES } from '../../../domain/migration/steps';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { createSigningKey, parseSigningKey, Secret, type SigningKey } from '../../../security';
import { AT, counts, stateAt } from '../../support/migrations/migration-states';

const ID = 'acme.xero';
const KEYS: readonly SigningKey[] = ['Sam', 'Kim', 'Cleo', 'Cleo', 'Dana'].map((by) =>
  parseSigningKey(new Secret(createSigningKey(by))),
);
const ownerOf = ({ by, publicKey }: SigningKey): Approver => ({
  role: by === 'Sam' || by === 'Kim' ? 'support' : 'client',
  by,
  publicKey,
});
const APPROVERS = KEYS.map(ownerOf);

const key = fc.constantFrom(...KEYS);
const signer = fc.option(key, { nil: null, freq: 4 });
const sent = fc.oneof(
  fc.record({
    message: fc.constantFrom('addApprover' as const, 'removeApprover' as const),
    signer,
    // Sometimes the name is not that of the key's owner.
    approver: fc.oneof(
      { arbitrary: key.map(ownerOf), weight: 5 },
      key.map((of) => ({ ...ownerOf(of), by: 'Eve' })),
    ),
  }),
  fc.record({
    message: fc.constantFrom('pause' as const, 'resume' as const),
    signer,
    approver: fc.constant(undefined),
  }),
);
const sender = fc.constantFrom(...APPROVERS);
const atStart = fc.constantFrom(null, APPROVERS.slice(0, 1), APPROVERS.slice(0, 3));

test('workflow, ledger and verification agree on who may sign, and no role is locked out', () => {
  fc.assert(
    fc.property(atStart, fc.array(fc.tuple(sent, sender), { maxLength: 40 }), (approvers, all) => {
      const rules = { ...DEFAULT_DECISION_RULES, approvers };
      let state = stateAt('schedule');
      let recorded: RecordedDecisions = NO_DECISIONS;
      let lastSigned: LastSigned = {};
      const verifier = createTrailVerifier(ID, approvers ?? APPROVERS.slice(2));
      for (const [index, [{ message, signer: by, approver }, from]] of all.entries()) {
        const { role, by: name } = by ? ownerOf(by) : from;
        const signedAt = new Date(Date.parse(AT) + index).toISOString();
        const content = { decisionId: `d-${index}`, signedAt, role, by: name, ...(approver && { approver }) };
        const value = by?.sign(bytesToSign(ID, { message, content }));
        const input = by ? { ...content, signature: { publicKey: by.publicKey, value } } : content;
        const parsed = parseDecision(message, input, () => '');
        if ('malformed' in parsed) throw new Error(parsed.malformed);
        const { decision } = parsed;
        const before = signingRules(approvers, state.approverChanges);
        state = decide(state, decision, AT, rules, { migrationId: ID, signed: parseSigned(message, input) });
        const outcome = outcomeOf(state, decision.decisionId);
        const last = state.unrecorded.at(-1);
        if (!outcome || !last) throw new Error('not recorded');

        if (outcome.applied && before.mustSign.includes(role)) expect(by).not.toBeNull();
        if (outcome.applied && before.mustSign.includes(role))
          expect(before.approvers.map(({ publicKey }) => publicKey)).toContain(by?.publicKey);

        // The ledger accepts what the workflow has applied, and keeps the same signature.
        const ledger: LedgerView = {
          ...{ migrationId: ID, route: 'managed', rules, suppliedBy: 'Mia', lastSigned, recorded, ending: null },
          ...{
            pausedItself: false,
            applicationRejected: false,
            pausedByPeople: false,
            hasBatchBegun: false,
            counts: counts({ total: 10, waiting: 10 }),
            firstCompany: null,
          },
        };
        const record = withoutInvalidSignature(last, ledger);
        expect(record.signed).toEqual(last.signed);
        if (outcome.applied) expect(ledgerRefusal(record, ledger)).toBeNull();
        if (outcome.applied) recorded = withDecision(recorded, decision, AT);
        if (record.signed && outcome.applied) lastSigned = withLastSigned(lastSigned, record.signed);

        const after = signingRules(approvers, state.approverChanges);
        expect(ledgerSigning({ migrationId: ID, rules, recorded })).toEqual({
          ...{ migrationId: ID, changes: state.approverChanges ?? [] },
          ...after,
        });
        for (const each of before.mustSign) expect(after.mustSign).toContain(each);
        for (const each of ROLES)
          if (before.approvers.some((one) => one.role === each))
            expect(after.approvers.some((one) => one.role === each)).toBe(true);
        // A key never changes its owner while the owner is an approver.
        for (const one of before.approvers)
          expect([undefined, one.by]).toContain(approverWithKey(after.approvers, one.publicKey)?.by);

        const entry = { decision, applied: outcome.applied, at: AT, ...(last.signed && { signed: last.signed }) };
        const proof = verifier.verify(entry);
        if (approvers !== null) expect(proof.proof).toBe(outcome.applied ? 'signed' : proof.proof);
      }
      if (approvers !== null) {
        const { approvers: now } = signingRules(approvers, state.approverChanges);
        expect(verifier.approvers()).toEqual(now);
      }
    }),
    { numRuns: 80 },
  );
});
