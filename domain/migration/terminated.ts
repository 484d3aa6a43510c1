/**
 * Workflows that have ended in Temporal before their migration ended: a person has terminated or cancelled the workflow
 * with Temporal's own tools, or the workflow has failed or timed out.
 */
import type { MoveStage } from '../companies/company-state';
import { momentText } from '../text/sentences';
import { isEnding } from './migration-state';

/** How the workflow of a migration ended in Temporal before the migration had ended. */
export interface EndedInTemporal {
  readonly status: 'terminated' | 'timed_out' | 'failed' | 'cancelled_in_temporal';
  /** ISO 8601, UTC; null if Temporal does not say. */
  readonly at: string | null;
}

const VERBS: Readonly<Record<EndedInTemporal['status'], string>> = {
  terminated: 'terminated',
  timed_out: 'timed out',
  failed: 'failed',
  cancelled_in_temporal: 'cancelled',
};

/** Returns how and when the workflow ended: `terminated in Temporal at 2026-11-26 14:57 UTC`. */
export function endedInTemporalText({ status, at }: EndedInTemporal): string {
  return `${VERBS[status]} in Temporal${at === null ? '' : ` at ${momentText(at)}`}`;
}

/**
 * Returns whether no company moves and no decision is possible any more, because the migration or its workflow has
 * ended.
 *
 * @param state the state of a progress
 */
export function isOver(state: string): boolean {
  return stageOf(state) !== 'open';
}

/**
 * Returns the stage of a migration.
 *
 * @param state the state of a progress
 */
export function stageOf(state: string): MoveStage {
  if (isEnding(state)) return 'ended';
  return state === 'terminated' ? 'terminated' : 'open';
}
