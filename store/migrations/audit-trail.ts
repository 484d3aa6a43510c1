/**
 * The audit trail: an append-only table of all decisions and their outcomes, including refused decisions and unreadable
 * messages. It is needed because Temporal deletes its histories after the retention period.
 */
import { sql, type RawBuilder } from 'kysely';
import type { ApplicationSupplied, Decision, Outcome, Unreadable } from '../../domain/migration/decision';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { LedgerSummary } from '../../domain/decisions/ledger-proof';
import { NO_DECISIONS, withDecision, type RecordedDecisions } from '../../domain/decisions/release';
import type { LastSigned, SignedMessage } from '../../domain/migration/signatures';
import type { Database, Queryable } from '../database/database';
import { inPages } from '../database/pages';
import { computeManifestDigest } from './amendments';

/** A decision, and whether the ledger has verified it. A refused decision is verified if its signature is valid. */
export type LedgerRecord = DecisionRecord & { readonly verified?: boolean };

/**
 * Records the decisions that are not recorded yet, and raises the ledger's mark by their number. A decision that is
 * already recorded stays unchanged.
 */
export async function recordDecisions(
  db: Queryable,
  migrationId: string,
  recorded: readonly LedgerRecord[],
): Promise<void> {
  if (recorded.length === 0) return;
  const rows = recorded.map(({ decision, outcome, signed, verified = false }) => ({
    migration_id: migrationId,
    decision_id: decision.decisionId,
    at: new Date(outcome.at),
    role: decision.role,
    by_whom: decision.by,
    content: JSON.stringify(decision),
    applied: outcome.applied,
    text: outcome.text,
    signed: signed ? JSON.stringify(signed) : null,
    verified,
  }));
  await db
    .with('inserted', (cte) =>
      cte
        .insertInto('decisions')
        .values(rows)
        .onConflict((conflict) => conflict.columns(['migration_id', 'decision_id']).doNothing())
        .returning('decision_id'),
    )
    .insertInto('ledger_marks')
    .columns(['migration_id', 'source', 'mark'])
    .expression(sql`select ${migrationId}, 'decisions', count(*) from inserted having count(*) > 0`)
    .onConflict((conflict) =>
      conflict
        .columns(['migration_id', 'source'])
        .doUpdateSet({ mark: sql<number>`ledger_marks.mark + excluded.mark` }),
    )
    .execute();
}

/**
 * Makes this transaction the only one that records decisions of the migration. Does not lock the migration's row: a
 * claim locks companies before that row, so a claim and this transaction could deadlock.
 */
export async function lockDecisions(tx: Queryable, migrationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${migrationId}, 1))`.execute(tx);
}

/** Prevents decisions of the migration from being recorded until this transaction ends. */
export async function delayRecording(tx: Queryable, migrationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${migrationId}, 1))`.execute(tx);
}

/** Builds the condition that the ledger has no decision with this id, so that content can still be staged for it. */
export const isUnrecorded = (migrationId: string, decisionId: string): RawBuilder<boolean> =>
  sql<boolean>`not exists (
    select from decisions d where d.migration_id = ${migrationId} and d.decision_id = ${decisionId})`;

/** An applied decision as `APPLIED_DECISIONS` returns it. `at` is the time as Postgres writes it in JSON. */
export interface AppliedDecision {
  readonly content: Decision;
  readonly at: string;
}

/**
 * The SQL for the applied and verified decisions of migration `m`, oldest first, as JSON. Omits the decisions without
 * an effect on `RecordedDecisions`.
 */
export const APPLIED_DECISIONS = sql<readonly AppliedDecision[]>`(
  select coalesce(
    jsonb_agg(jsonb_build_object('content', content - 'companies', 'at', at) order by position), '[]')
  from decisions
  where migration_id = m.id and applied and verified
    and content ->> 'kind' not in ('sync-disabled', 'credentials-supplied', 'adjust', 'pause', 'resume'))`;

/** Returns the effect of applied decisions. */
export function effectOf(applied: readonly AppliedDecision[]): RecordedDecisions {
  return applied.reduce(
    (before, { content, at }) => withDecision(before, content, new Date(at).toISOString()),
    NO_DECISIONS,
  );
}

/** Returns the effect of all decisions that were applied and verified. */
export async function readRecordedDecisions(db: Queryable, migrationId: string): Promise<RecordedDecisions> {
  const { rows } = await sql<{ applied: readonly AppliedDecision[] }>`
    select ${APPLIED_DECISIONS} as applied from migrations m where m.id = ${migrationId}`.execute(db);
  return effectOf(rows[0]?.applied ?? []);
}

/** Returns the start that was proposed last, unless it was withdrawn. ISO 8601; null if there is none. */
export async function readProposedStart(db: Queryable, migrationId: string): Promise<string | null> {
  if ((await readRecordedDecisions(db, migrationId)).proposal === null) return null;
  const { rows } = await sql<{ startAt: string }>`
    select content ->> 'startAt' as "startAt" from decisions
    where migration_id = ${migrationId} and applied and content ->> 'kind' = 'time'
    order by position desc limit 1`.execute(db);
  return rows[0]?.startAt ?? null;
}

/**
 * Returns the application of the latest applied decision that supplied an application, if the ledger recorded that
 * decision within the last minute; otherwise null.
 */
export async function readNewApplication(db: Queryable, migrationId: string): Promise<ApplicationSupplied | null> {
  const { rows } = await sql<{ content: ApplicationSupplied }>`
    select content from decisions
    where migration_id = ${migrationId} and applied and content ->> 'kind' = 'application-supplied'
      and recorded_at > clock_timestamp() - interval '1 minute'
    order by position desc limit 1`.execute(db);
  return rows[0]?.content ?? null;
}

/**
 * Reads the manifest's digest, the release and the confirmations in the ledger, to compare them with the signed
 * decisions.
 *
 * @returns null if the migration is not in the ledger
 */
export async function readLedgerSummary(db: Queryable, migrationId: string): Promise<LedgerSummary | null> {
  const migration = await db
    .selectFrom('migrations')
    .select(['route', 'released'])
    .where('id', '=', migrationId)
    .executeTakeFirst();
  if (!migration) return null;
  const { rows } = await sql<{ by: string; at: Date; companies: number }>`
    select coalesce(confirmed_by, '') as by, confirmed_at as at, count(*)::integer as companies from companies
    where migration_id = ${migrationId} and confirmed_at is not null
    group by 1, 2 order by 2, 1`.execute(db);
  return {
    ...migration,
    confirmations: rows.map((each) => ({ ...each, at: each.at.toISOString() })),
    manifestDigest: await computeManifestDigest(db, migrationId),
  };
}

/** The SQL for the times at which each approver of migration `m` signed their latest verified decision, as JSON. */
export const LAST_SIGNED = sql<LastSigned>`(
  select coalesce(jsonb_object_agg(latest.key, latest.at), '{}')
  from (
    select signed -> 'signature' ->> 'publicKey' as key, max(signed -> 'content' ->> 'signedAt') as at
    from decisions
    where migration_id = m.id and verified and signed -> 'signature' ->> 'publicKey' is not null
    group by 1) latest)`;

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
  const oldestFirst = entries(db, migrationId).orderBy('position').limit(PAGE_SIZE);
  const pages = inPages('position', PAGE_SIZE, (after) => oldestFirst.where('position', '>', after).execute());
  for await (const page of pages) yield* page.map(entryOf);
}

/** Lists the latest decisions, newest first. Unreadable messages are omitted, but count towards `limit`. */
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
