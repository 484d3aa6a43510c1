/** Migrations that were ended in Temporal, past their own workflow, and are closed by another one. */
import type { Halt } from './decision';
import type { Recorded } from './migration-state';

/** The workflow id of what closes a terminated migration: one at a time, whoever starts it. */
export function closeWorkflowIdOf(migrationId: string): string {
  return `${migrationId}.closing`;
}

/**
 * The decision that closes it as if cancelled, for the audit trail.
 *
 * @param at ISO 8601, UTC
 */
export function closeDecision(by: string, decisionId: string, at: string): Recorded {
  const reason = 'it was ended in Temporal, and could not end itself';
  const decision: Halt = { kind: 'cancel', decisionId, role: 'support', by, reason };
  return { decision, outcome: { decisionId, applied: true, text: 'cancelled', at } };
}
