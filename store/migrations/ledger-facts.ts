/** The facts with which the ledger verifies a decision. */
import { sql } from 'kysely';
import type { Outcome } from '../../domain/migration/decision';
import type { LedgerView } from '../../domain/decisions/verification';
import type { Release } from '../../domain/decisions/release';
import { FIRST_COMPANY } from '../companies/first-company';
import type { Queryable } from '../database/database';
import { APPLIED_DECISIONS, effectOf, LAST_SIGNED, type AppliedDecision } from './audit-trail';
import { markOf } from './ledger-mark';
import { isPausedFor } from './stoppages';

export interface LedgerFacts extends Omit<LedgerView, 'hasBatchBegun' | 'counts'> {
  /** The outcome of the decision, if it has already been recorded; otherwise null. */
  readonly earlierOutcome: Outcome | null;
  readonly platformKey: string;
  readonly released: Release;
  readonly paused: boolean;
  /** The only run that can claim companies; null before the first run. */
  readonly currentRun: string | null;
  /** The ledger's mark. */
  readonly mark: number;
  /** The time of the database's clock. */
  readonly now: Date;
}

/**
 * Reads the facts about a migration and a decision in one statement. Call this after `lockDecisions`, so that no other
 * decision is recorded meanwhile.
 *
 * @throws if the migration is not in the ledger
 */
export async function readLedgerFacts(tx: Queryable, migrationId: string, decisionId: string): Promise<LedgerFacts> {
  const { rows } = await sql<
    Omit<LedgerFacts, 'migrationId' | 'recorded' | 'earlierOutcome'> & {
      applied: readonly AppliedDecision[];
      earlier: Omit<Outcome, 'decisionId'> | null;
    }
  >`
    select m.route, m.platform_key as "platformKey", m.decision_rules as rules, m.supplied_by as "suppliedBy", m.ending, m.released, m.paused,
      m.paused_itself as "pausedItself", m.paused_by_people as "pausedByPeople", m.current_run as "currentRun",
      ${isPausedFor(migrationId, 'application-refused')} as "applicationRejected",
      ${APPLIED_DECISIONS} as applied,
      ${LAST_SIGNED} as "lastSigned",
      ${FIRST_COMPANY} as "firstCompany",
      (select jsonb_build_object('applied', applied, 'text', text, 'at', at)
        from decisions where migration_id = m.id and decision_id = ${decisionId}) as earlier,
      ${markOf(migrationId)} as mark,
      clock_timestamp() as now
    from migrations m where m.id = ${migrationId}`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`migration ${migrationId} is not in the ledger`);
  const { applied, earlier, ...facts } = row;
  return {
    ...facts,
    migrationId,
    recorded: effectOf(applied),
    earlierOutcome: earlier && { ...earlier, decisionId, at: new Date(earlier.at).toISOString() },
  };
}
