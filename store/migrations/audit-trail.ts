/** The audit trail: every message that was to decide something and what became of it, once, append-only. Temporal's own history is deleted in time. */
import type { Decision, Outcome, Unreadable } from '../../domain/migration/decision';
import type { Recorded } from '../../domain/migration/migration-state';
import type { SignedMessage } from '../../domain/migration/signatures';
import type { Database } from '../database/database';

/** Writes decisions; one that is there already stays as it was first written. */
export async function recordDecisions(db: Database, migrationId: string, recorded: readonly Recorded[]): Promise<void> {
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

/** The decisions of a migration, oldest first. Messages that could not be read are none. */
export async function readDecisions(db: Database, migrationId: string): Promise<readonly AuditEntry[]> {
  const trail: AuditEntry[] = [];
  for await (const { decision, outcome } of readTrail(db, migrationId)) {
    if (decision.kind !== 'unreadable') trail.push({ decision, outcome });
  }
  return trail;
}

const PAGE = 1_000;

/** The whole trail of a migration, oldest first, page after page. */
export async function* readTrail(db: Database, migrationId: string): AsyncGenerator<Recorded> {
  let after = 0;
  for (;;) {
    const rows = await entries(db, migrationId).where('position', '>', after).orderBy('position').limit(PAGE).execute();
    for (const row of rows) yield entryOf(row);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.position;
  }
}

/** The latest decisions of a migration, the newest first. Messages that could not be read are none. */
export async function readLatestDecisions(
  db: Database,
  migrationId: string,
  most: number,
): Promise<readonly AuditEntry[]> {
  const rows = await entries(db, migrationId).orderBy('position', 'desc').limit(most).execute();
  return rows.flatMap((row) => {
    const { decision, outcome } = entryOf(row);
    return decision.kind === 'unreadable' ? [] : [{ decision, outcome }];
  });
}

/** What became of one decision; null: it is not in the trail. */
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
}): Recorded {
  return {
    decision: row.content,
    outcome: { decisionId: row.decision_id, applied: row.applied, text: row.text, at: row.at.toISOString() },
    ...(row.signed ? { signed: row.signed } : {}),
  };
}
