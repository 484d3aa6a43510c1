/**
 * The audit trail: an append-only table of all decisions and their outcomes, including refused decisions and unreadable
 * messages. It is needed because Temporal deletes its histories after the retention period.
 */
import type { Decision, Outcome, Unreadable } from '../../domain/migration/decision';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { SignedMessage } from '../../domain/migration/signatures';
import type { Database } from '../database/database';

/** Records decisions. A decision that is already recorded stays unchanged. */
export async function recordDecisions(
  db: Database,
  migrationId: string,
  recorded: readonly DecisionRecord[],
): Promise<void> {
  if (recorded.length === 0) return;
  await db
    .insertInto('decisions')
    .values(
      recorded.map(({ decision, outcome, signed }) => ({
        migration_id: migrationId,
        decision_id: decision.decisionId,
        at: new Date(outcome.at),
        role: decision.role,
        by_whom: decision.by,
        content: JSON.stringify(decision),
        applied: outcome.applied,
        text: outcome.text,
        signed: signed ? JSON.stringify(signed) : null,
      })),
    )
    .onConflict((conflict) => conflict.columns(['migration_id', 'decision_id']).doNothing())
    .execute();
}

export interface AuditEntry {
  readonly decision: Decision;
  readonly outcome: Outcome;
}

/** Lists the decisions of a migration, oldest first. Omits unreadable messages. */
export async function readDecisions(db: Database, migrationId: string): Promise<readonly AuditEntry[]> {
  const trail: AuditEntry[] = [];
  for await (const { decision, outcome } of readTrail(db, migrationId)) {
    if (decision.kind !== 'unreadable') trail.push({ decision, outcome });
  }
  return trail;
}

const PAGE_SIZE = 1_000;

/** Yields all entries of a migration, oldest first, including unreadable messages. Reads them in pages. */
export async function* readTrail(db: Database, migrationId: string): AsyncGenerator<DecisionRecord> {
  let after = 0;
  for (;;) {
    const rows = await entries(db, migrationId)
      .where('position', '>', after)
      .orderBy('position')
      .limit(PAGE_SIZE)
      .execute();
    for (const row of rows) yield entryOf(row);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_SIZE) return;
    after = last.position;
  }
}

/**
 * Lists the latest decisions of a migration, newest first. Omits unreadable messages, although they count towards
 * `limit`.
 */
export async function readLatestDecisions(
  db: Database,
  migrationId: string,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const rows = await entries(db, migrationId).orderBy('position', 'desc').limit(limit).execute();
  return rows.flatMap((row) => {
    const { decision, outcome } = entryOf(row);
    return decision.kind === 'unreadable' ? [] : [{ decision, outcome }];
  });
}

/** Returns the outcome of a decision; null if it has not been recorded. */
export async function readOutcome(db: Database, migrationId: string, decisionId: string): Promise<Outcome | null> {
  const row = await entries(db, migrationId).where('decision_id', '=', decisionId).executeTakeFirst();
  return row ? entryOf(row).outcome : null;
}

function entries(db: Database, migrationId: string) {
  return db
    .selectFrom('decisions')
    .select(['position', 'decision_id', 'at', 'content', 'applied', 'text', 'signed'])
    .where('migration_id', '=', migrationId);
}

function entryOf(row: {
  decision_id: string;
  at: Date;
  content: Decision | Unreadable;
  applied: boolean;
  text: string;
  signed: SignedMessage | null;
}): DecisionRecord {
  return {
    decision: row.content,
    outcome: { decisionId: row.decision_id, applied: row.applied, text: row.text, at: row.at.toISOString() },
    ...(row.signed ? { signed: row.signed } : {}),
  };
}
