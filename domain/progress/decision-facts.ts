/** The facts with which a view finds out, before a decision is sent, whether the migration will refuse it. */
import type { DecisionFacts } from '../decisions/preconditions';
import { isEnding } from '../migration/migration-state';
import { pausesIn, type Progress } from './progress';

/** Returns the facts that the progress contains. It does not contain who has rejected the first company. */
export function decisionFactsOf(progress: Progress): DecisionFacts {
  const { route, state, step, steps, proposal, counts, firstCompany } = progress;
  const shown = pausesIn(progress);
  return {
    ...{ route, step, counts, firstCompany },
    closed: isEnding(state) ? state : null,
    ended: steps.filter(({ endedAt }) => endedAt !== null).map((each) => each.step),
    approvals: steps.flatMap(({ approvals }) => approvals),
    hasProposal: proposal !== null,
    pausedItself: shown.some(({ stopReason }) => stopReason !== null),
    applicationRejected: shown.some(({ stopReason }) => stopReason === 'application-refused'),
    pausedByPeople: shown.some(({ stopReason }) => stopReason === null),
  };
}
