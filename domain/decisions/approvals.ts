/**
 * Approvals: applies an approval if the step is ready, and returns the approvals that a step still needs. Only the
 * workflow can check that a step is ready, because the ledger does not store the facts that decide it, for example the
 * result of the preflight.
 */
import type { Decision, StepDecision } from '../migration/decision';
import type { Approval, MigrationState } from '../migration/migration-state';
import { STEP_RULES, stepText, type Role, type Step } from '../migration/steps';
import { counted } from '../text/sentences';
import { applied, refused, type Ruling } from './ruling';
import { noticeAfterSignOff } from './withdrawals';

export function approve(state: MigrationState, decision: StepDecision, at: string): Ruling {
  const { step, role } = decision;
  const notReady = unmetCondition(state, step);
  if (notReady) return refused(notReady);
  const approval: Approval = { step, role, by: decision.by, at };
  const { reopened } = state;
  const notice = reopened && step === 'complete-migration' ? { reopened: noticeAfterSignOff(reopened, role) } : {};
  const text =
    step === 'complete-migration' ? `handover signed off by ${role}` : `${stepText(step)} approved by ${role}`;
  return applied({ ...state, ...notice, approvals: [...state.approvals, approval] }, text);
}

/** Returns why the step cannot be approved yet, although the preconditions are met; null if it can be. */
function unmetCondition(state: MigrationState, step: Step): string | null {
  if (step === 'supply-details') {
    if (!state.preflight)
      return 'the details are still being checked; wait until the check has ended, then decide again';
    const { problems, clientProblems = problems } = state.preflight;
    if (problems.length === 0) return null;
    return `the check of the details found ${counted(problems.length, 'kind')} of problem: ${clientProblems.join('; ')}`;
  }
  return step === 'complete-migration' && companiesAreChanging(state)
    ? 'earlier decisions about companies are still being carried out; try again in a moment'
    : null;
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
    // A manifest is accepted only in step 1, so the decision is recorded long before the last step.
    case 'manifest-supplied':
    case 'step':
    case 'time':
    case 'first-company':
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'application-supplied':
    case 'adjust':
    case 'add-approver':
    case 'remove-approver':
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
