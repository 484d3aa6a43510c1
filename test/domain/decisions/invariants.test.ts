/** Tests invariants with random sequences of decisions. */
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import fc from 'fast-check';
import { missingApprovals } from '../../../domain/decisions/approvals';
import { decide } from '../../../domain/decisions/decide';
import type { Decision } from '../../../domain/migration/decision';
import { newMigration, type MigrationState } from '../../../domain/migration/migration-state';
import { STEPS, stepNumber } from '../../../domain/migration/steps';
import { approve, AT, decideAll, proposeTime, withoutRecord } from '../../support/migrations/migration-states';
import {
  anyDecision,
  confirmsSyncDisabled,
  withAllConfirmed,
  workflowActs,
} from '../../support/migrations/random-decisions';

function afterAll(decisions: readonly Decision[]): MigrationState {
  return decisions.reduce(
    (state, decision) => {
      const next = workflowActs(decide(state, decision, AT));
      return confirmsSyncDisabled(decision) ? withAllConfirmed(next) : next;
    },
    workflowActs(newMigration({ firstCompany: null, limits: DEFAULT_LIMITS })),
  );
}

const sequences = fc.array(anyDecision, { maxLength: 60 });

test('a step ends only after all required approvals', () => {
  fc.assert(
    fc.property(sequences, (decisions) => {
      const state = afterAll(decisions);
      for (const step of STEPS) {
        const ended = state.closed === 'completed' || stepNumber(step) < stepNumber(state.step);
        expect(Boolean(state.steps[step]?.endedAt)).toBe(ended);
        if (ended) expect(missingApprovals(state, step)).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

test('a refusal changes only the recorded decisions', () => {
  fc.assert(
    fc.property(sequences, anyDecision, (decisions, last) => {
      const before = afterAll(decisions);
      const after = decide(before, last, AT);
      if (after.outcomes.at(-1)?.applied === false) expect(withoutRecord(after)).toEqual(withoutRecord(before));
    }),
    { numRuns: 500 },
  );
});

test('the state is plain JSON, so continue-as-new does not change it', () => {
  fc.assert(
    fc.property(sequences, (decisions) => {
      const state = afterAll(decisions);
      expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    }),
  );
});

test('every open migration can still be completed', () => {
  fc.assert(
    fc.property(sequences, (decisions) => {
      let state = afterAll(decisions);
      fc.pre(state.closed === null);
      if (state.pause) state = decideAll(state, { kind: 'resume', role: 'support' });
      for (let round = 0; round < 12 && state.closed === null; round += 1) {
        const { step } = state;
        state = workflowActs(withAllConfirmed(state));
        if (state.step !== step) continue;
        if (step === 'schedule' && !state.proposal) state = decideAll(state, proposeTime('support'));
        state = decideAll(state, approve(step, 'client'), approve(step, 'support'));
        state = workflowActs(withAllConfirmed(state));
      }
      expect(state.closed).toBe('completed');
    }),
    { numRuns: 500 },
  );
});
