/** Random decisions, and the workflow's actions between them. */
import fc from 'fast-check';
import type { Decision } from '../../../domain/migration/decision';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { ROLES, STEPS } from '../../../domain/migration/steps';
import { AT, counts, firstCompany, preflight, START_AT } from './migration-states';

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
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('manifest-supplied'),
      manifestDigest: fc.constant('ab'.repeat(32)),
      companies: fc.constant(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause', 'resume') }) },
);

/** A decision of any person, about any step. */
export const anyDecision = fc
  .tuple(sender, content)
  .map(([from, decision]) => JSON.parse(JSON.stringify({ ...from, ...decision })) as Decision);

/**
 * Returns the state after the workflow's next action between decisions: it ends a complete step, or opens the current
 * step. No company ever fails.
 */
export function workflowActs(state: MigrationState): MigrationState {
  const { step } = state;
  if (state.closed) return state;
  if (isStepComplete(state, step)) return withStepEnded(state, step, AT);
  const opened = withStepOpened(state, step, AT);
  switch (step) {
    case 'supply-details':
      return {
        ...opened,
        preflight: opened.preflight ?? preflight(),
        counts: counts({ total: 3, waiting: 3, unconfirmed: 3 }),
      };
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

export function confirmsSyncDisabled({ kind, role }: Decision): boolean {
  return kind === 'sync-disabled' && role === 'client';
}

export const withAllConfirmed = (state: MigrationState): MigrationState => ({
  ...state,
  counts: { ...state.counts, unconfirmed: 0, unconfirmedInFirstWave: 0 },
});
