/** Answers to decisions: states that moves wait for the next window. */
import type { Decision } from '../migration/decision';
import { nextMove } from '../planning/windows';
import { momentText } from '../text/sentences';
import type { Ruling } from './ruling';

/**
 * Adds the time when the next window opens to the text of a ruling that lets companies be tried again while no window
 * is open. Without this time, people would expect the next try at once.
 *
 * @param at ISO 8601, UTC
 */
export function withNextWindow(ruling: Ruling, decision: Decision, at: string): Ruling {
  const { state } = ruling;
  if (state === null || state.closed !== null || !movesAgain(decision)) return ruling;
  // In earlier steps, the moves also wait for approvals and the start.
  if (state.step !== 'migrate-first-company' && state.step !== 'complete-migration') return ruling;
  const opensAt = nextMove(state.limits.windows, at);
  if (opensAt === null || opensAt === at) return ruling;
  const text = `no move begins before the next window, which opens at ${momentText(opensAt)}`;
  return { state, text: `${ruling.text}; ${text}` };
}

/** Returns whether the decision lets companies be tried again, or lets another company go first. */
function movesAgain(decision: Decision): boolean {
  if (decision.kind === 'step') return decision.verdict === 'reject' && decision.step === 'migrate-first-company';
  return ['retry', 'replace-credential', 'first-company'].includes(decision.kind);
}
