/** Says before an approval whether the four-eyes rule requires another person. */
import { missingApprovals } from '../decisions/approvals';
import { excludesEveryApprover, fourEyesRefusal, type EarlierActors } from '../decisions/guards';
import { roleText, type Role, type Step } from '../migration/steps';
import { eitherOf } from '../text/sentences';
import type { Progress } from './progress';
import { currentTask } from './waiting-for';

type Acts = Pick<Progress, 'fourEyes' | 'proposal' | 'steps'>;

/** Returns why the migration will refuse this person's approval under the four-eyes rule; null if it will not. */
export function otherPersonText(
  progress: Acts,
  approval: { readonly step: Step; readonly role: Role; readonly by: string },
): string | null {
  const earlier = earlierActors(progress);
  return earlier && fourEyesRefusal(approval, earlier);
}

/** Returns who has approved, proposed or supplied so far; null without the four-eyes rule. */
const earlierActors = ({ fourEyes = null, proposal, steps }: Acts): EarlierActors | null =>
  fourEyes && { approvals: approvalsIn(steps), proposal, suppliers: fourEyes.suppliers };

const approvalsIn = (steps: Progress['steps']) => steps.flatMap(({ approvals }) => approvals);

/** Returns whether a role must sign, and the four-eyes rule excludes all its approvers from this step. */
export function needsAnotherApprover(progress: Acts & Pick<Progress, 'signing'>, step: Step, role: Role): boolean {
  const { signing } = progress;
  const earlier = earlierActors(progress);
  if (earlier === null || !signing.mustSign.includes(role)) return false;
  return excludesEveryApprover(signing.approvers, { step, role }, earlier);
}

/** Returns the roles that need another approver before they can give their missing approval of the open step. */
export function rolesWithoutApprover(progress: Progress): readonly Role[] {
  const { state, steps, step } = progress;
  if (state !== 'waiting' && state !== 'paused') return [];
  const missing = missingApprovals({ approvals: approvalsIn(steps) }, step);
  return missing.filter((role) => needsAnotherApprover(progress, step, role));
}

/** Returns the command that adds an approver, with placeholders. */
export function addApproverCommand(migrationId: string, role: Role): string {
  return `ferry approver add ${migrationId} "${role}:name:key"`;
}

/** Returns what helps if the four-eyes rule excludes every approver of a role from a step, with the command. */
export function addAnotherText({ migrationId, proposal }: Progress, step: Step, role: Role): string {
  const propose = step === 'schedule' && proposal !== null ? 'have another person propose the time, or ' : '';
  return `${propose}add another with: ${addApproverCommand(migrationId, role)}`;
}

/** Says that the approvals of the open step need another approver, to follow a task; empty if they do not. */
export function anotherApproverText(progress: Progress): string {
  return rolesWithoutApprover(progress)
    .map((role) => {
      const add = addAnotherText(progress, progress.step, role);
      return `; the four-eyes rule excludes every approver for ${roleText(role)}, so ${add}`;
    })
    .join('');
}

/**
 * Returns the current task as support reads it, with the command that adds an approver if no approver can do the task.
 *
 * @param now ISO 8601, UTC
 */
export function taskForSupport(progress: Progress, now: string): string {
  return `${currentTask(progress, now)}${anotherApproverText(progress)}`;
}

/** Names the people who cannot give the missing approvals of the open step. Empty without the four-eyes rule. */
export function fourEyesTexts(progress: Progress): readonly string[] {
  const { fourEyes = null, steps, step, waitingFor } = progress;
  if (fourEyes === null) return [];
  const missing = missingApprovals({ approvals: approvalsIn(steps) }, step);
  const withoutApprover = rolesWithoutApprover(progress);
  return missing.flatMap((role) => {
    if (withoutApprover.includes(role))
      return [`Four-eyes rule: no approver for ${roleText(role)} can approve this step; add another approver`];
    if (!waitingFor.roles.includes(role)) return [];
    const excluded = excludedPeople(progress, step, role);
    return excluded.length === 0
      ? []
      : [`Four-eyes rule: someone other than ${eitherOf(excluded)} must approve this step as ${role}`];
  });
}

/**
 * Returns the people who decide for the client, and whose approval of the step the four-eyes rule refuses. Empty
 * without the rule. If the client's decisions need no signature, its people are not known, except the one who proposed
 * the time.
 */
export function excludedClients(progress: Acts & Pick<Progress, 'signing'>, step: Step): readonly string[] {
  const { proposal, signing } = progress;
  const people = signing.mustSign.includes('client') ? signing.approvers : [proposal].flatMap((each) => each ?? []);
  return clientsIn(people).filter((by) => otherPersonText(progress, { step, role: 'client', by }) !== null);
}

/** Returns the names of the people who act for the client; each name once, because a person can have several keys. */
function clientsIn(people: readonly { readonly role: Role; readonly by: string }[]): readonly string[] {
  return [...new Set(people.flatMap(({ role, by }) => (role === 'client' ? [by] : [])))];
}

/** Returns whether only one person could approve a start for the client, and so nobody if that person proposes it. */
export function needsOthersToPropose(progress: Acts & Pick<Progress, 'signing'>): boolean {
  const { fourEyes = null, signing } = progress;
  if (fourEyes === null || !signing.mustSign.includes('client')) return false;
  const excluded = excludedClients({ ...progress, proposal: null }, 'schedule');
  return clientsIn(signing.approvers).length - excluded.length < 2;
}

/** Returns the people whose approval of the step in this role the four-eyes rule refuses. Empty without the rule. */
export function excludedPeople(progress: Acts, step: Step, role: Role): readonly string[] {
  const earlier = earlierActors(progress);
  if (earlier === null) return [];
  const approvers = earlier.approvals.map(({ by }) => by);
  const proposer = earlier.proposal === null ? [] : [earlier.proposal.by];
  const people = new Set([...earlier.suppliers, ...proposer, ...approvers]);
  return [...people].filter((by) => fourEyesRefusal({ step, role, by }, earlier) !== null);
}
