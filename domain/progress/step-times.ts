/** The times of steps, from the approvals that the ledger has recorded. */
import { STEP_RULES } from '../migration/steps';
import type { StepProgress } from './progress';

/**
 * Returns steps with the times that their approvals show. The last approval ends a step, and the next step opens then.
 * Leaves out the times of a step that ends without approvals, because the ledger does not record when it ended.
 */
export function withRecordedTimes(steps: readonly StepProgress[]): readonly StepProgress[] {
  let previousEndedAt: string | null = null;
  return steps.map((step) => {
    const openedAt = step.state === 'later' ? null : previousEndedAt;
    const endedAt = step.state === 'done' ? lastApprovalAt(step, openedAt) : null;
    previousEndedAt = endedAt;
    return { ...step, openedAt, endedAt };
  });
}

/** Returns when the last role approved the step; null if a role has not, or if the step ends without approvals. */
function lastApprovalAt({ step, approvals }: StepProgress, openedAt: string | null): string | null {
  const { approvers, approvableEarly } = STEP_RULES[step];
  const times = approvers.map((role) => approvals.find((approval) => approval.role === role)?.at);
  if (times.length === 0 || times.includes(undefined)) return null;
  // A step that was approved early ends as soon as it opens.
  if (approvableEarly && openedAt === null) return null;
  return [...times, openedAt].reduce<string | null>(
    (last, at) => (at && (last === null || at > last) ? at : last),
    null,
  );
}
