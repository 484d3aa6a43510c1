/** Completes the answers to decisions: says that moves wait for the next window, or that the windows are paused. */
import type { Decision } from '../migration/decision';
import { isPaused } from '../migration/pauses';
import { nextMove } from '../planning/windows';
import { momentText } from '../text/sentences';
import type { Ruling } from './ruling';
import { isMoveStep } from '../migration/steps';

/**
 * Adds the time when the next window opens to the text of a ruling that lets companies be tried again while no window
 * is open. Without this time, people would expect the next try at once. If the windows are paused, says that instead,
 * because no further window opens.
 *
 * @param at ISO 8601, UTC
 */
export function withNextWindow(ruling: Ruling, decision: Decision, at: string): Ruling {
  const { state } = ruling;
  if (state === null || state.closed !== null || !movesAgain(decision)) return ruling;
  // In earlier steps, the moves also wait for approvals and the start.
  if (!isMoveStep(state.step)) return ruling;
  const { windows } = state.limits;
  const opensAt = nextMove(windows, at);
  if (windows.length === 0 || opensAt === null) return ruling;
  const isOpen = opensAt === at;
  const isPausedNow = isOpen
    ? state.schedule === 'paused' && state.openedWindow?.opensAt !== state.window?.opensAt
    : state.schedule === 'paused' || state.noFurtherWindow === true;
  if (isPausedNow) {
    const paused = isPaused(state) ? 'the migration and its windows are paused' : 'the windows are paused';
    return { state, text: `${ruling.text}; ${paused}, so no move begins until they are resumed` };
  }
  if (isOpen) return ruling;
  const text = `no move begins before the next window, which opens at ${momentText(opensAt)}`;
  return { state, text: `${ruling.text}; ${text}` };
}

function movesAgain(decision: Decision): boolean {
  if (decision.kind === 'step') return decision.verdict === 'reject' && decision.step === 'migrate-first-company';
  return ['retry', 'replace-credential', 'first-company'].includes(decision.kind);
}
