/** Says before an approval whether the four-eyes rule requires another person. */
import { missingApprovals } from '../decisions/approvals';
import { fourEyesRefusal } from '../decisions/guards';
import type { Role, Step } from '../migration/steps';
import { eitherOf } from '../text/sentences';
import type { Progress } from './progress';

/** Returns why the migration will refuse this person's approval under the four-eyes rule; null if it will not. */
export function otherPersonText(
  { fourEyes = null, proposal, steps }: Pick<Progress, 'fourEyes' | 'proposal' | 'steps'>,
  approval: { readonly step: Step; readonly role: Role; readonly by: string },
): string | null {
  if (fourEyes === null) return null;
  const approvals = steps.flatMap((each) => each.approvals);
  return fourEyesRefusal(approval, { approvals, proposal, suppliers: fourEyes.suppliers });
}

/** Names the people who cannot give the missing approvals of the open step. Empty without the four-eyes rule. */
export function fourEyesTexts(
  progress: Pick<Progress, 'fourEyes' | 'proposal' | 'steps' | 'step' | 'waitingFor'>,
): readonly string[] {
  const { fourEyes = null, steps, step, waitingFor } = progress;
  if (fourEyes === null) return [];
  const missing = missingApprovals({ approvals: steps.flatMap(({ approvals }) => approvals) }, step);
  return missing.flatMap((role) => {
    if (!waitingFor.roles.includes(role)) return [];
    const excluded = excludedPeople(progress, step, role);
    return excluded.length === 0
      ? []
      : [`Four-eyes rule: someone other than ${eitherOf(excluded)} must approve this step as ${role}`];
  });
}

/** Returns the people whose approval of the step in this role the four-eyes rule refuses. Empty without the rule. */
export function excludedPeople(
  progress: Pick<Progress, 'fourEyes' | 'proposal' | 'steps'>,
  step: Step,
  role: Role,
): readonly string[] {
  const { fourEyes = null, proposal, steps } = progress;
  const approvers = steps.flatMap(({ approvals }) => approvals.map(({ by }) => by));
  const people = new Set([...(fourEyes?.suppliers ?? []), ...(proposal ? [proposal.by] : []), ...approvers]);
  return [...people].filter((by) => otherPersonText(progress, { step, role, by }) !== null);
}
