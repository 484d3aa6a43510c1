/** The workflow's state agrees with the ledger: a decision that the ledger has refused has no effect. */
import type { Outcome } from '../../../domain/migration/decision';
import { decide, outcomeOf, withLedgerOutcomes } from '../../../domain/decisions/decide';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import {
  approve,
  AT,
  decideAll,
  decideOne,
  proposeTime,
  stateAt,
  withoutRecord,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

const refusedByLedger = ({ outcome }: { readonly outcome: Outcome }): Outcome => ({
  ...outcome,
  applied: false,
  text: 'refused by the ledger',
});
const adopt = (state: MigrationState, outcomes: readonly Outcome[]) =>
  withLedgerOutcomes(state, outcomes, DEFAULT_DECISION_RULES);
const cancel: DecisionDraft = { kind: 'cancel', role: 'support', reason: 'no' };

test('outcomes that agree with the workflow change only the list of unrecorded decisions', () => {
  const state = decideAll(stateAt('schedule'), proposeTime('client'), approve('schedule', 'client'));
  const adopted = adopt(
    state,
    state.unrecorded.map(({ outcome }) => outcome),
  );
  expect(adopted).toEqual({ ...state, unrecorded: [] });
});

test("the ledger's text replaces the workflow's", () => {
  const { state, outcome } = decideOne(stateAt('schedule'), proposeTime('client'));
  const adopted = adopt(state, [{ ...outcome, text: 'as recorded' }]);
  expect(outcomeOf(adopted, outcome.decisionId)?.text).toBe('as recorded');
});

test('a refused decision is undone, and its outcome is the refusal', () => {
  const before = stateAt('schedule');
  const state = decideAll(before, cancel);
  expect(state.closed).toBe('cancelled');
  const adopted = adopt(state, state.unrecorded.map(refusedByLedger));
  expect(adopted.closed).toBeNull();
  expect(withoutRecord(adopted)).toEqual(withoutRecord(before));
  expect(adopted.outcomes).toMatchObject([{ applied: false, text: 'refused by the ledger' }]);
});

test('decisions after a refused decision remain valid, unless they depend on it', () => {
  const before = stateAt('schedule');
  const state = decideAll(
    before,
    proposeTime('client'),
    approve('schedule', 'client'),
    approve('update-application', 'client'),
    approve('schedule', 'support'),
  );
  const [proposal, ...others] = state.unrecorded;
  if (!proposal) throw new Error('the proposal is missing');
  // The ledger has recorded the first three decisions. The last decision is still unrecorded.
  const adopted = adopt(state, [
    refusedByLedger(proposal),
    ...others.slice(0, 2).map(({ outcome }, index) => ({ ...outcome, applied: index === 1 })),
  ]);
  expect(adopted.proposal).toBeNull();
  expect(adopted.approvals.map(({ step }) => step)).toEqual(['supply-details', 'update-application']);
  expect(adopted.unrecorded).toMatchObject([
    { outcome: { applied: false, text: expect.stringMatching(/no start time/) as string } },
  ]);
});

test('a change of the state that is not a decision is kept', () => {
  const state = { ...decideAll(stateAt('schedule'), cancel), batchRuns: 7 };
  expect(adopt(state, state.unrecorded.map(refusedByLedger)).batchRuns).toBe(7);
});

test('a decision whose id is known is not decided again after its refusal', () => {
  const { state, outcome } = decideOne(stateAt('schedule'), { ...cancel, decisionId: 'c' });
  const adopted = adopt(state, [{ ...outcome, applied: false }]);
  const repeated = decide(adopted, { ...cancel, kind: 'cancel', by: 'Sam', decisionId: 'c' }, AT);
  expect(repeated).toBe(adopted);
});

test('a first company whose approval the ledger has refused is checked again', () => {
  const evidence = [{ code: 'moved', label: 'Forged', passed: true, detail: 'all is well' } as const];
  const firstCompany = { row: 1, reference: 'R-1', stage: 'verified', failure: null, evidence } as const;
  const state = decideAll(
    { ...stateAt('migrate-first-company'), firstCompany },
    approve('migrate-first-company', 'support'),
  );
  expect(state.outcomes).toMatchObject([{ applied: true }]);
  const agreed = adopt(
    state,
    state.unrecorded.map(({ outcome }) => outcome),
  );
  expect(agreed.firstCompany).toEqual(firstCompany);
  const refused = adopt(state, state.unrecorded.map(refusedByLedger));
  expect(refused.firstCompany).toMatchObject({ reference: 'R-1', stage: 'importing', evidence: [] });
});
