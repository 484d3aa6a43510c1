/** Rejections, and proposals of a new start time. Both can reopen a step until the move of the first company begins. */
import type { DecisionBase, StepDecision, TimeProposal } from '../migration/decision';
import type { EndedBy, MigrationState, Reopened } from '../migration/migration-state';
import { stepNumber, stepText, type Step } from '../migration/steps';
import { withoutEnds } from '../planning/estimate';
import { momentText } from '../text/sentences';
import { rejectFirstCompany } from './first-company';
import { applied, withoutApprovals, withoutLaterApprovals, type Ruling } from './ruling';

/**
 * Rules on a rejection. The state keeps its reason, so that people see what has to change, until the step has ended or
 * another rejection replaces it. The reason for rejecting the handover goes when the role that gave it signs off.
 */
export function reject(state: MigrationState, decision: StepDecision, at: string): Ruling {
  const ruling = rejectStep(state, decision);
  if (ruling.state === null) return ruling;
  if (ruling.state.closed !== null)
    return { ...ruling, state: { ...ruling.state, reopened: null, endedBy: endedBy(decision, at) } };
  const company = decision.step === 'migrate-first-company' ? state.firstCompany?.reference : undefined;
  const reopened = {
    ...reopenedBy(decision, decision.step, at),
    ...(company === undefined ? {} : { company }),
    ...(decision.step === 'schedule' ? { proposed: false } : {}),
    ...(asksForChanges(state, decision) ? { asksForChanges: true as const } : {}),
  };
  return { ...ruling, state: { ...ruling.state, reopened } };
}

/** Returns whether a rejection asks for a change of the details. If they have problems, it only repeats the check. */
function asksForChanges({ route, preflight }: MigrationState, { step, role }: StepDecision): boolean {
  return route === 'managed' && step === 'supply-details' && role === 'support' && preflight?.problems.length === 0;
}

/** Returns who ended a migration with a decision, and why. */
export function endedBy({ by, role, reason }: DecisionBase, at: string): EndedBy {
  return { by, role, reason: reason ?? null, at };
}

function reopenedBy({ by, role, reason }: StepDecision | TimeProposal, step: Step, at: string): Reopened {
  return { step, by, role, reason: reason ?? null, at };
}

function rejectStep(state: MigrationState, decision: StepDecision): Ruling {
  const { step } = decision;
  switch (step) {
    case 'migrate-first-company':
      return rejectFirstCompany(state, decision);
    case 'complete-migration':
      return applied(withoutApprovals(state, step), 'the handover is rejected');
    case 'supply-details':
      return rejectDetails(state, decision);
    case 'schedule':
    case 'update-application':
    case 'disable-syncing':
      return applied(
        reopened(state, step),
        state.step === step ? `${stepText(step)} is rejected, and stays open` : `${stepText(step)} is open again`,
      );
  }
}

function rejectDetails(state: MigrationState, decision: StepDecision): Ruling {
  const { step } = decision;
  const what = asksForChanges(state, decision)
    ? 'the client is asked to change the supplied details, which are also checked again'
    : 'the supplied details are checked again';
  return applied(
    reopened(state, step),
    state.step === step ? `${what}; ${stepText(step)} stays open` : `${stepText(step)} is open again`,
  );
}

export function proposeTime(state: MigrationState, decision: TimeProposal, at: string): Ruling {
  const proposal = { startAt: decision.startAt, role: decision.role, by: decision.by, at };
  const open =
    stepNumber(state.step) > stepNumber('schedule')
      ? {
          ...reopened(state, 'schedule'),
          reopened: { ...reopenedBy(decision, 'schedule', at), proposed: true },
        }
      : state;
  const limits = decision.windows ? { ...open.limits, windows: decision.windows } : open.limits;
  // The approvals and the expected end of an earlier proposal belong to a different time.
  return applied(
    { ...withoutApprovals(open, 'schedule'), limits, proposal, estimate: withoutEnds(open.estimate) },
    `start proposed for ${momentText(decision.startAt)}`,
  );
}

function reopened(state: MigrationState, step: Step): MigrationState {
  const isReopened = (other: Step): boolean => stepNumber(other) >= stepNumber(step);
  const openedAt = state.steps[step]?.openedAt ?? null;
  return {
    ...withoutLaterApprovals(state, step),
    step,
    steps: {
      ...Object.fromEntries(Object.entries(state.steps).filter(([name]) => !isReopened(name as Step))),
      [step]: { openedAt, endedAt: null },
    },
    ...(step === 'schedule' ? { proposal: null } : {}),
    ...(step === 'supply-details' ? { preflight: null } : {}),
  };
}
