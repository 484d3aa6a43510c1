/** Approvals: whose a step takes, when there is something to approve, and what takes one back. */
import { openCompanies } from '../companies/company-state';
import type { Decision, StepDecision } from '../migration/decision';
import type { Ruling } from './ruling';
import { applied, refused } from './ruling';
import type { Approval, MigrationState } from '../migration/migration-state';
import type { Role, Step } from '../migration/steps';
import { STEP_RULES, stepNumber } from '../migration/steps';
import { counted } from '../text/sentences';

export function approve(state: MigrationState, decision: StepDecision, at: string): Ruling {
  const { step, role } = decision;
  const rules = STEP_RULES[step];
  if (step === 'disable-syncing') return refused('this step ends when every company is confirmed, not by an approval');
  if (!rules.approvers.includes(role)) {
    return refused(`${step} is approved by ${rules.approvers.join(' and ')}, not by ${role}`);
  }
  if (state.steps[step]?.endedAt) return refused(`${step} has ended already`);
  if (stepNumber(step) > stepNumber(state.step) && !rules.mayComeEarly) {
    return refused(`${step} is not open yet: the migration is at step ${stepNumber(state.step)}, ${state.step}`);
  }
  const missing = missingSubject(state, step);
  if (missing) return refused(missing);
  const earlier = state.approvals.find((approval) => approval.step === step && approval.role === role);
  if (earlier) return refused(`${role} has approved ${step} already, by ${earlier.by}`);
  const approval: Approval = { step, role, by: decision.by, at };
  return applied({ ...state, approvals: [...state.approvals, approval] }, `${step} approved by ${role}`);
}

/** Why there is nothing yet to approve, or null. */
function missingSubject(state: MigrationState, step: Step): string | null {
  switch (step) {
    case 'supply-details':
      if (!state.preflight) return 'the details are still being checked';
      if (state.preflight.problems.length > 0) {
        const { problems } = state.preflight;
        return `the check of the details found ${counted(problems.length, 'problem')}: ${problems.join('; ')}`;
      }
      return null;
    case 'schedule':
      return state.proposal ? null : 'no time has been proposed yet';
    case 'migrate-first-company':
      return state.firstCompany?.stage === 'proven' ? null : 'no first company has been moved and proven yet';
    case 'complete-migration': {
      if (companiesAreChanging(state)) return 'what was decided about companies is still being carried out: look again';
      const open = openCompanies(state.counts);
      return open === 0 ? null : `${counted(open, 'company')} ${open === 1 ? 'is' : 'are'} still open`;
    }
    case 'update-application':
    case 'disable-syncing':
      return null;
  }
}

/** Whether what becomes of a company was decided, and the counts do not show it yet. */
function companiesAreChanging({ unrecorded }: MigrationState): boolean {
  return unrecorded.some(({ decision, outcome }) => outcome.applied && changesCompanies(decision.kind));
}

function changesCompanies(kind: Decision['kind'] | 'unreadable'): boolean {
  switch (kind) {
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
    case 'manifest-amended':
      return true;
    case 'step':
    case 'time':
    case 'first-company':
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'application-supplied':
    case 'adjust':
    case 'pause':
    case 'resume':
    case 'cancel':
    case 'unreadable':
      return false;
  }
}

/** The state without the approvals of a step: what they were about is no longer what it was. */
export function withoutApprovals(state: MigrationState, step: Step): MigrationState {
  return { ...state, approvals: state.approvals.filter((approval) => approval.step !== step) };
}

/** The roles whose approval a step still lacks. */
export function missingApprovals({ approvals }: Pick<MigrationState, 'approvals'>, step: Step): readonly Role[] {
  return STEP_RULES[step].approvers.filter(
    (role) => !approvals.some((approval) => approval.step === step && approval.role === role),
  );
}
