/** Tests invariants with random sequences of decisions. */
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import fc from 'fast-check';
import { missingApprovals } from '../../../domain/decisions/approvals';
import { decide } from '../../../domain/decisions/decide';
import type { Decision } from '../../../domain/migration/decision';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { newMigration } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { ROLES, STEPS, stepNumber } from '../../../domain/migration/steps';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  preflight,
  proposeTime,
  START_AT,
  withoutRecord,
} from '../../support/migration-states';

const sender = fc.record({
  decisionId: fc.stringMatching(/^[a-h][0-9]$/),
  role: fc.constantFrom(...ROLES),
  by: fc.constantFrom('Cleo', 'Sam', 'Carl'),
});

const afterwards = fc.constantFrom(
  { next: 'same-company' } as const,
  { next: 'another-company', reference: 'acme-2' } as const,
  { next: 'abandon' } as const,
);

const content = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('step'),
      step: fc.constantFrom(...STEPS),
      verdict: fc.constantFrom('approve', 'approve', 'reject'),
      afterwards: fc.option(afterwards, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('time'), startAt: fc.constant(START_AT) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sync-disabled'), companies: fc.constant('all') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause', 'resume') }) },
);

const anyDecision = fc
  .tuple(sender, content)
  .map(([from, decision]) => JSON.parse(JSON.stringify({ ...from, ...decision })) as Decision);

/** Does what the workflow does between decisions. No company ever fails. */
function workflowActs(state: MigrationState): MigrationState {
  const { step } = state;
  if (state.closed) return state;
  if (isStepComplete(state, step)) return withStepEnded(state, step, AT);
  const opened = withStepOpened(state, step, AT);
  switch (step) {
    case 'supply-details':
      return { ...opened, preflight: opened.preflight ?? preflight() };
    case 'disable-syncing':
      return { ...opened, counts: counts({ total: 3, waiting: 3, unconfirmed: 3 }) };
    case 'migrate-first-company':
      if (opened.firstCompany) return opened;
      return { ...opened, firstCompany: firstCompany(), counts: counts({ total: 3, waiting: 2, moved: 1 }) };
    case 'complete-migration':
      return { ...opened, counts: counts({ total: 3, moved: 3 }) };
    case 'schedule':
    case 'update-application':
      return opened;
  }
}

const confirmed = (state: MigrationState): MigrationState => ({
  ...state,
  counts: { ...state.counts, unconfirmed: 0, unconfirmedInFirstWave: 0 },
});

function afterAll(decisions: readonly Decision[]): MigrationState {
  return decisions.reduce(
    (state, decision) => {
      const next = workflowActs(decide(state, decision, AT));
      const disabled = decision.kind === 'sync-disabled' && decision.role === 'client';
      return disabled ? confirmed(next) : next;
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
        state = workflowActs(confirmed(state));
        if (state.step !== step) continue;
        if (step === 'schedule' && !state.proposal) state = decideAll(state, proposeTime('support'));
        state = decideAll(state, approve(step, 'client'), approve(step, 'support'));
        state = workflowActs(confirmed(state));
      }
      expect(state.closed).toBe('completed');
    }),
    { numRuns: 500 },
  );
});
