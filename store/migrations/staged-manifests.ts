/**
 * Manifests that a decision supplies. Their rows are staged in parts. They become the companies of the migration once
 * the ledger has recorded the decision as applied.
 */
import { sql } from 'kysely';
import type { ManifestRow } from '../../domain/companies/manifest';
import { oneRow, updateMigration, type Database, type Queryable } from '../database/database';
import { limitStagedManifests } from '../vault/staging-limits';
import { lockDecisions } from './audit-trail';
import { insertRows } from './manifest-rows';

/** A part of the rows of a manifest. */
export interface ManifestPart {
  readonly decisionId: string;
  /** Position of the part, from 0. */
  readonly part: number;
  readonly rows: readonly ManifestRow[];
}

/**
 * Stores a part of the manifest that a decision will supply. Replaces an earlier part with the same position. Deletes
 * the parts that this person has staged for other decisions.
 *
 * @throws {StagingFull} if too much is staged
 */
export async function stageManifest(
  db: Database,
  migrationId: string,
  { decisionId, part, rows }: ManifestPart,
  suppliedBy: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // No rows may be added while the ledger records the decision.
    await lockDecisions(tx, migrationId);
    await tx
      .deleteFrom('staged_manifests')
      .where('migration_id', '=', migrationId)
      .where('supplied_by', '=', suppliedBy)
      .where('decision_id', '<>', decisionId)
      .execute();
    const text = JSON.stringify(rows);
    const content = {
      rows: text,
      bytes: Buffer.byteLength(text),
      supplied_by: suppliedBy,
      staged_at: sql<Date>`clock_timestamp()`,
    };
    await tx
      .insertInto('staged_manifests')
      .values({ migration_id: migrationId, decision_id: decisionId, part, ...content })
      .onConflict((conflict) => conflict.columns(['migration_id', 'decision_id', 'part']).doUpdateSet(content))
      .execute();
    await limitStagedManifests(tx, migrationId, suppliedBy);
  });
}

/** Yields the rows that are staged for a decision, in the order of their parts. */
export async function* readStagedManifest(
  db: Queryable,
  migrationId: string,
  decisionId: string,
): AsyncGenerator<ManifestRow> {
  for (let after = -1; ;) {
    const found = await db
      .selectFrom('staged_manifests')
      .select(['part', 'rows'])
      .where('migration_id', '=', migrationId)
      .where('decision_id', '=', decisionId)
      .where('part', '>', after)
      .orderBy('part')
      .limit(1)
      .executeTakeFirst();
    if (!found) return;
    yield* found.rows;
    after = found.part;
  }
}

/**
 * Locks the companies of a migration.
 *
 * @returns true if none of them was tried, moved or left out, so that other companies can replace them
 */
export async function lockUntouchedCompanies(tx: Queryable, migrationId: string): Promise<boolean> {
  const { touched } = await oneRow<{ touched: boolean }>(tx)`
    with locked as (
      select c.state, c.tries, c.attempt, c.crossed_at, c.authorizations_sent, c.company_id, c.named
      from companies c where c.migration_id = ${migrationId} order by c.row for update of c)
    select coalesce(bool_or(state <> 'waiting' or tries > 0 or attempt is not null or crossed_at is not null
      or authorizations_sent > 0 or (company_id is not null and named is null)), false) as touched
    from locked`;
  return !touched;
}

export interface ReplacedManifest {
  readonly decisionId: string;
  readonly manifestDigest: string;
  readonly by: string;
}

/**
 * Replaces the companies of the migration with the staged rows. Deletes the credentials of the earlier companies. The
 * caller has checked the staged rows, and has locked the companies.
 *
 * @returns the number of deleted credentials
 */
export async function replaceManifest(
  tx: Queryable,
  migrationId: string,
  { decisionId, manifestDigest, by }: ReplacedManifest,
): Promise<number> {
  const { credentials } = await oneRow<{ credentials: number }>(tx)`
    select count(*) as credentials from credentials where migration_id = ${migrationId}`;
  await tx.deleteFrom('companies').where('migration_id', '=', migrationId).execute();
  const rows = readStagedManifest(tx, migrationId, decisionId);
  await insertRows(tx, migrationId, rows, { heldBack: null, organizationOpen: true });
  await updateMigration(tx, migrationId, {
    manifest_digest: manifestDigest,
    supplied_by: by,
    supplied_at: sql<Date>`clock_timestamp()`,
    first_row: null,
  });
  await tx.deleteFrom('staged_manifests').where('migration_id', '=', migrationId).execute();
  return credentials;
}

/** Deletes the rows that are staged for a decision, because it was refused. */
export async function discardStagedManifest(tx: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await tx
    .deleteFrom('staged_manifests')
    .where('migration_id', '=', migrationId)
    .where('decision_id', '=', decisionId)
    .execute();
}
