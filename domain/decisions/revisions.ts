/**
 * Revisions: for each step, the latest decision that has changed the facts which people review before they approve the
 * step.
 *
 * A digest includes the revision, because everything else can look unchanged after such a decision. Example: a rejected
 * handover does not change the counts, but a sign-off that is based on a review before the rejection must not count.
 */
import type { Decision } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import { STEPS, stepNumber, type Step } from '../migration/steps';

/** Adds to `after`, the state after the decision, the revisions that the decision causes. */
export function withRevisions(before: MigrationState, after: MigrationState, decision: Decision): MigrationState {
  const steps = revisedSteps(before, after, decision);
  if (steps.length === 0) return after;
  const revised = Object.fromEntries(steps.map((step) => [step, decision.decisionId]));
  return { ...after, revisions: { ...after.revisions, ...revised } };
}

function revisedSteps(before: MigrationState, after: MigrationState, decision: Decision): readonly Step[] {
  switch (decision.kind) {
    case 'step':
      return decision.verdict === 'reject' ? from(decision.step) : [];
    case 'time':
      // A proposal after step 2 reopens step 2.
      return stepNumber(before.step) > stepNumber('schedule') ? from('schedule') : ['schedule'];
    case 'application-supplied':
    case 'manifest-supplied':
    case 'manifest-amended':
      return STEPS;
    case 'adjust':
      // Approving these steps begins moves, and the limits say when and how fast.
      return ['schedule', 'migrate-first-company'];
    case 'first-company':
      return ['migrate-first-company'];
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
      return [
        'complete-migration',
        // The first company changes only if the decision lets it be tried again.
        ...(before.firstCompany === after.firstCompany ? [] : (['migrate-first-company'] as const)),
      ];
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'add-approver':
    case 'remove-approver':
    case 'pause':
    case 'resume':
    case 'cancel':
      return [];
  }
}

const from = (first: Step): readonly Step[] => STEPS.filter((step) => stepNumber(step) >= stepNumber(first));
