/** Suggests the commands that propose a start, approve a step or sign off the handover. */
import { isHandoverRejected } from '../../domain/decisions/withdrawals';
import { STEP_RULES, type Role } from '../../domain/migration/steps';
import { windowOccurrences } from '../../domain/planning/windows';
import { addApproverCommand, excludedPeople, needsAnotherApprover } from '../../domain/progress/four-eyes';
import type { Progress } from '../../domain/progress/progress';
import { exampleTime, typedTime } from '../terminal/times';
import { byClient, bySupport, type NextCommand } from './remedy-commands';

/**
 * Suggests proposing a time. The suggested time is the next opening of a window if there are windows, because moves
 * begin only in windows.
 */
export function proposals({ migrationId: id, windows }: Progress, now: Date): readonly NextCommand[] {
  const openings = windowOccurrences(windows, now.toISOString()).map(({ opensAt }) => new Date(opensAt));
  const opening = openings.find((opensAt) => opensAt > now);
  const command = `ferry propose-time ${id} "${opening ? typedTime(opening) : exampleTime(now)}"`;
  return [bySupport(command), byClient(command)];
}

export function approvals(progress: Progress): readonly NextCommand[] {
  const { migrationId, step } = progress;
  return approversLeft(progress).map((who) => approvalBy(who, progress, `ferry approve ${migrationId} ${step}`));
}

export function signOffs(progress: Progress): readonly NextCommand[] {
  const { migrationId: id } = progress;
  const command = `ferry sign-off ${id}`;
  const first = isHandoverRejected(progress)
    ? {
        first: `resolve the problem for which the handover was rejected (only if companies are missing from the manifest, add them with: ferry amend ${id} companies.csv)`,
      }
    : {};
  return approversLeft(progress).map((who) => ({ ...first, ...approvalBy(who, progress, command) }));
}

/**
 * Returns the command that approves, or the command that adds an approver if the four-eyes rule excludes every
 * approver. Adds `--by` for support if the rule excludes a person, because the default can be that person's name.
 */
function approvalBy(who: Role, progress: Progress, command: string): NextCommand {
  if (needsAnotherApprover(progress, progress.step, who)) return anotherApprover(progress.migrationId, who);
  if (who === 'client') return byClient(command);
  const isAnyone = excludedPeople(progress, progress.step, who).length === 0;
  return bySupport(isAnyone ? command : `${command} --by "your name"`);
}

function anotherApprover(id: string, role: Role): NextCommand {
  const invite = `ferry invite ${id} --name "name of the person"`;
  return {
    ...bySupport(addApproverCommand(id, role)),
    first:
      role === 'support'
        ? 'another person at support creates a key with: ferry keys create'
        : `another person at the client creates a key with: ferry keys create; for the portal, invite this person with: ${invite}`,
  };
}

function approversLeft({ step, steps }: Progress): readonly Role[] {
  const given = steps.find((each) => each.step === step)?.approvals ?? [];
  return STEP_RULES[step].approvers.filter((role) => !given.some((approval) => approval.role === role));
}
