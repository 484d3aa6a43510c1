/** Approvals: which roles approve a step, and when a step is ready to be approved. */
import { openCompanies } from '../companies/company-state';
import type { Decision, StepDecision } from '../migration/decision';
import type { Approval, MigrationState } from '../migration/migration-state';
import type { Role, Step } from '../migration/steps';
import { STEP_RULES, stepNumber } from '../migration/steps';
import { counted } from '../text/sentences';
import type { Ruling } from './ruling';
import { applied, refused } from './ruling';

export function approve(state: MigrationState, decision: StepDecision, at: string): Ruling {
  const { step, role } = decision;
  const rules = STEP_RULES[step];
  if (state.steps[step]?.endedAt) return refused(`${step} has already ended`);
  if (stepNumber(step) > stepNumber(state.step) && !rules.approvableEarly) {
    return refused(`${step} is not open yet: the migration is at step ${stepNumber(state.step)}, ${state.step}`);
  }
  const notReady = unmetCondition(state, step);
  if (notReady) return refused(notReady);
  const earlier = state.approvals.find((approval) => approval.step === step && approval.role === role);
  if (earlier) return refused(`${role} has already approved ${step} (${earlier.by})`);
  const approval: Approval = { step, role, by: decision.by, at };
  return applied({ ...state, approvals: [...state.approvals, approval] }, `${step} approved by ${role}`);
}

/** Returns why the step cannot be approved yet; null if it can be. */
function unmetCondition(state: MigrationState, step: Step): string | null {
  switch (step) {
    case 'supply-details':
      if (!state.preflight) return 'the details are still being checked';
      if (state.preflight.problems.length > 0) {
        const { problems } = state.preflight;
        return `the check of the details found ${counted(problems.length, 'problem')}: ${problems.join('; ')}`;
      }
      return null;
    case 'schedule':
      return state.proposal ? null : 'no start time has been proposed yet';
    case 'migrate-first-company':
      return state.firstCompany?.stage === 'verified' ? null : 'no first company has been moved and verified yet';
    case 'complete-migration': {
      if (companiesAreChanging(state)) {
        return 'earlier decisions about companies are still being carried out; try again in a moment';
      }
      const open = openCompanies(state.counts);
      return open === 0 ? null : `${counted(open, 'company')} ${open === 1 ? 'has' : 'have'} no final outcome yet`;
    }
    case 'update-application':
    case 'disable-syncing':
      return null;
  }
}

/** Returns whether an applied decision about companies is not yet reflected in the counts. */
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

/** Returns the roles whose approval a step still needs. */
export function missingApprovals({ approvals }: Pick<MigrationState, 'approvals'>, step: Step): readonly Role[] {
  return STEP_RULES[step].approvers.filter(
    (role) => !approvals.some((approval) => approval.step === step && approval.role === role),
  );
}
