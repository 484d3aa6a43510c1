/** Rejections, and proposals of another time: before anything has crossed they open a step again. */
import { withoutApprovals } from './approvals';
import { anyCrossed } from '../companies/company-state';
import type { StepDecision, TimeProposal } from '../migration/decision';
import { rejectFirstCompany } from './first-company';
import type { Ruling } from './ruling';
import { applied, refused } from './ruling';
import type { MigrationState } from '../migration/migration-state';
import { moment } from '../text/moments';
import type { Step } from '../migration/steps';
import { STEP_RULES, stepNumber } from '../migration/steps';

/** A start that a person typed as now, or a message that was long under way, is not in the past. */
const STILL_NOW_MS = 15 * 60_000;

export function reject(state: MigrationState, decision: StepDecision): Ruling {
  const { step, role } = decision;
  const rules = STEP_RULES[step];
  if (stepNumber(step) > stepNumber(state.step)) return refused(`${step} is not open yet`);
  if (![...rules.approvers, ...rules.actors].includes(role)) return refused(`${role} has no say in ${step}`);
  switch (step) {
    case 'migrate-first-company':
      return rejectFirstCompany(state, decision);
    case 'complete-migration':
      return applied(withoutApprovals(state, step), 'the handover is not accepted');
    case 'supply-details':
    case 'schedule':
    case 'update-application':
    case 'disable-syncing':
      if (hasCrossed(state)) return refused('a company is being moved already: this cannot be taken back');
      return applied(reopened(state, step), `${step} is open again`);
  }
}

export function proposeTime(state: MigrationState, decision: TimeProposal, at: string): Ruling {
  if (Date.parse(decision.startAt) < Date.parse(at) - STILL_NOW_MS) {
    return refused(`${moment(decision.startAt)} has passed; to start at once, propose now`);
  }
  if (hasCrossed(state)) return refused('companies are being moved already');
  const proposal = { startAt: decision.startAt, role: decision.role, by: decision.by, at };
  const open = stepNumber(state.step) > stepNumber('schedule') ? reopened(state, 'schedule') : state;
  const limits = decision.windows ? { ...open.limits, windows: decision.windows } : open.limits;
  // Whoever approved the older proposal approved another time.
  return applied(
    { ...withoutApprovals(open, 'schedule'), limits, proposal },
    `start proposed for ${moment(decision.startAt)}`,
  );
}

/** Counts follow the ledger a little later, so that the first company may be crossing while they do not show it. */
function hasCrossed({ counts, firstCompany }: MigrationState): boolean {
  return firstCompany !== null || anyCrossed(counts);
}

/** The step open again: it and every later one lose their approvals, except facts stated early. */
function reopened(state: MigrationState, step: Step): MigrationState {
  const later = (other: Step): boolean => stepNumber(other) >= stepNumber(step);
  const openedAt = state.steps[step]?.openedAt ?? null;
  return {
    ...state,
    step,
    steps: {
      ...Object.fromEntries(Object.entries(state.steps).filter(([name]) => !later(name as Step))),
      [step]: { openedAt, endedAt: null },
    },
    approvals: state.approvals.filter((approval) => !later(approval.step) || keepsFact(approval.step, step)),
    ...(step === 'schedule' ? { proposal: null } : {}),
    ...(step === 'supply-details' ? { preflight: null } : {}),
  };
}

function keepsFact(approved: Step, opened: Step): boolean {
  return approved !== opened && STEP_RULES[approved].mayComeEarly;
}
