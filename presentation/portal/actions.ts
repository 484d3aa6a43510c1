/**
 * The decisions that the client can make now, each with the texts that the page shows before the client confirms it. A
 * decision that the preconditions would refuse is not offered.
 */
import { preconditionRefusal } from '../../domain/decisions/preconditions';
import { decisionFactsOf } from '../../domain/progress/decision-facts';
import type { Progress } from '../../domain/progress/progress';
import type { ActionFacts, ActionView, Candidate, DecisionDraft } from './candidate';
import { confirmation, exceptions, supplies } from './company-actions';
import { approvals, controls, proposal, rejections } from './step-actions';

/**
 * Returns the decisions that the client can make. Decisions that are expected now come first.
 *
 * @param now ISO 8601, UTC
 */
export function actionsOf(progress: Progress, facts: ActionFacts, now: string): readonly ActionView[] {
  if (progress.state === 'terminated') return [];
  const decisionFacts = decisionFactsOf(progress);
  const isRefused = (draft: DecisionDraft): boolean =>
    preconditionRefusal({ decisionId: '', role: 'client', by: '', ...draft }, decisionFacts, now) !== null;
  const offered = candidates(progress, facts, now)
    .filter(({ applies, draft }) => applies && !isRefused(draft))
    .map(actionView);
  return [...offered.filter(({ isExpected }) => isExpected), ...offered.filter(({ isExpected }) => !isExpected)];
}

function actionView({ draft: _, applies: __, ...candidate }: Candidate): ActionView {
  return { isIrreversible: false, isExpected: false, reason: 'none', ...candidate };
}

function candidates(progress: Progress, facts: ActionFacts, now: string): readonly Candidate[] {
  return [
    ...approvals(progress, facts, now),
    proposal(progress, now),
    confirmation(progress, facts),
    ...supplies(progress, facts),
    ...rejections(progress, facts, now),
    ...exceptions(progress, facts),
    ...controls(progress),
  ];
}
