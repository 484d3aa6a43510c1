/** The times of steps, from the approvals that the ledger has recorded. */
import { STEP_RULES } from '../migration/steps';
import type { StepProgress } from './progress';

/**
 * Returns steps with the times that the ledger shows; null for other times, such as the opening of step 1. The last
 * approval ends a step, and the next step opens then. Step 4 needs no approvals, so it ends at `syncDisabledAt`, or
 * when it opens if that is later.
 *
 * @param syncDisabledAt when the client made the last confirmation before a company began to move; null if unknown
 */
export function withRecordedTimes(
  steps: readonly StepProgress[],
  syncDisabledAt: string | null,
): readonly StepProgress[] {
  let previousEndedAt: string | null = null;
  return steps.map((step) => {
    const openedAt = step.state === 'later' ? null : previousEndedAt;
    const endedAt = step.state === 'done' ? endOf(step, openedAt, syncDisabledAt) : null;
    previousEndedAt = endedAt;
    return { ...step, openedAt, endedAt };
  });
}

function endOf(step: StepProgress, openedAt: string | null, syncDisabledAt: string | null): string | null {
  if (step.step !== 'disable-syncing') return lastApprovalAt(step, openedAt);
  // The client can confirm companies before the step opens.
  return syncDisabledAt !== null && openedAt !== null && openedAt > syncDisabledAt ? openedAt : syncDisabledAt;
}

/**
 * Returns when the last role approved the step, or when the step opened if that is later; null if an approval is
 * missing, or if the step ends without approvals.
 */
function lastApprovalAt({ step, approvals }: StepProgress, openedAt: string | null): string | null {
  const { approvers, approvableEarly } = STEP_RULES[step];
  const times = approvers.map((role) => approvals.find((approval) => approval.role === role)?.at);
  if (times.length === 0 || times.includes(undefined)) return null;
  // A step that was approved early ends as soon as it opens, so its end is unknown without `openedAt`.
  if (approvableEarly && openedAt === null) return null;
  return [...times, openedAt].reduce<string | null>(
    (last, at) => (at && (last === null || at > last) ? at : last),
    null,
  );
}
