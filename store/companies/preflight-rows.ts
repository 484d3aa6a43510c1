/** Reads the waiting companies for the preflight, and writes its results. */
import { sql } from 'kysely';
import { inChunks, type Stream } from '../../domain/text/streams';
import type { PreflightTexts } from '../../domain/migration/preflight-result';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { FamilySizes, HeldBackTexts } from '../../domain/preflight/company-findings';
import { organizationKey, type OrganizationConflicts } from '../../domain/preflight/organization-conflicts';
import { selectManifestRows } from '../migrations/manifest-rows';
import { oneRow, updateMigration, type Database } from '../database/database';
import { inPages } from '../database/pages';

/** A waiting company, as the preflight reads it. */
export type PreflightRow = ManifestRow & HeldBackTexts;

/**
 * Number of companies per query. It is large, because each query of `findOpenOrganizations` scans the organizations of
 * all migrations that have not ended.
 */
const PAGE = 5_000;

/** Yields the waiting companies in pages, in manifest order. */
export function readPreflightRows(db: Database, migrationId: string): AsyncGenerator<readonly PreflightRow[]> {
  const waiting = selectManifestRows(db, migrationId)
    .select(['held_back as heldBack', 'held_back_details as heldBackDetails'])
    .where('state', '=', 'waiting')
    .limit(PAGE);
  return inPages('row', PAGE, (after) => waiting.where('row', '>', after).execute());
}

/** Totals of the waiting companies. */
export interface PreflightTotals extends FamilySizes {
  /** Companies that do not exist at the service yet: no id was supplied, and no try created the company. */
  readonly toCreate: number;
}

export async function countPreflightRows(db: Database, migrationId: string): Promise<PreflightTotals> {
  return oneRow<PreflightTotals>(db)`
    with to_move as (
      select company_id, family from companies where migration_id = ${migrationId} and state = 'waiting'
    ), families as (
      select count(*) as size from to_move where family is not null group by family
    )
    select
      count(*) as companies,
      count(*) filter (where company_id is null) as "toCreate",
      count(*) filter (where family is null) as "withoutFamily",
      (select count(*) from families where size > 1) as families,
      (select coalesce(sum(size), 0) from families where size > 1)::integer as "companiesInFamilies",
      (select coalesce(max(size), 0) from families) as "largestFamily"
    from to_move`;
}

/** A company of the account, and an organization that it is connected to, as `organizationKey` returns it. */
export interface ConnectedCompany {
  readonly companyId: string;
  readonly organization: string;
}

/**
 * Returns the connected companies whose organization belongs to a waiting company of this migration. Omits companies
 * for which this migration has already handed over a credential.
 */
export async function findAlreadyConnected<Company extends ConnectedCompany>(
  db: Database,
  migrationId: string,
  connected: readonly Company[],
): Promise<readonly Company[]> {
  const ids = connected.map(({ companyId }) => companyId);
  const organizations = connected.map(({ organization }) => organization);
  const { rows } = await sql<{ organization: string; moved: string | null }>`
    select organization, case when crossed_at is not null then company_id::text end as moved
    from companies
    where migration_id = ${migrationId} and state = 'waiting'
      -- Uses arrays instead of a join, because Postgres hashes an array. It would plan a join with
      -- statistics that do not include a new manifest yet.
      and (lower(organization) = any(${organizations}::text[])
        or (crossed_at is not null and company_id::text = any(${ids}::text[])))`.execute(db);
  const toMove = new Set(rows.map(({ organization }) => organizationKey(organization)));
  const moved = new Set(rows.map((row) => row.moved));
  return connected.filter(({ companyId, organization }) => toMove.has(organization) && !moved.has(companyId));
}

/**
 * Finds the other migrations that have not ended and contain an organization of these companies.
 *
 * @param except the migration to which these companies belong, which the result omits; null if it has not been stored
 * yet
 */
export async function findOpenOrganizations(
  db: Database,
  platformKey: string,
  companies: Stream<Pick<ManifestRow, 'organization'>>,
  except: string | null,
): Promise<OrganizationConflicts['openElsewhere']> {
  const found = new Map<string, string>();
  for await (const group of inChunks(companies, PAGE)) {
    const organizations = group.map(({ organization }) => organizationKey(organization));
    const { rows } = await sql<{ organization: string; migrationId: string }>`
      select c.organization, c.migration_id as "migrationId"
      from companies c
      where c.platform_key = ${platformKey} and c.organization_open
        and c.migration_id is distinct from ${except}::text
        and lower(c.organization) = any(${organizations}::text[])`.execute(db);
    for (const { organization, migrationId } of rows) found.set(organizationKey(organization), migrationId);
  }
  return found;
}

/**
 * Stores the full texts of a preflight, with the names of other clients, for support.
 *
 * @param texts null if they contain no such names
 */
export async function recordPreflightTexts(
  db: Database,
  migrationId: string,
  texts: PreflightTexts | null,
): Promise<void> {
  const preflight_texts = texts && JSON.stringify(texts);
  await updateMigration(db, migrationId, { preflight_texts });
}

/** Returns the full texts of the latest preflight; null if they contain no names of other clients. */
export async function readPreflightTexts(db: Database, migrationId: string): Promise<PreflightTexts | null> {
  const row = await db
    .selectFrom('migrations')
    .select('preflight_texts')
    .where('id', '=', migrationId)
    .executeTakeFirst();
  return row?.preflight_texts ?? null;
}

/** The preflight's result for a company, with the values that it checked. */
export type PreflightResult = Pick<ManifestRow, 'row' | 'name' | 'organization'> & HeldBackTexts;

/** Thrown when rows were added or corrected during the preflight, because its results do not cover them. */
export class ManifestAmended extends Error {
  override readonly name = 'ManifestAmended';
}

/**
 * Writes the results of a preflight. Writes nothing if rows were added or corrected during the preflight.
 *
 * @param manifestDigest the digest of the manifest when the preflight began
 * @throws {ManifestAmended}
 */
export async function recordPreflightResults(
  db: Database,
  { id, manifestDigest }: { readonly id: string; readonly manifestDigest: string },
  results: readonly PreflightResult[],
): Promise<void> {
  if (results.length === 0) return;
  await db.transaction().execute(async (tx) => {
    await sql`
      update companies c set held_back = v."heldBack", held_back_details = v."heldBackDetails"
      from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as v (
        row integer, name text, organization text, "heldBack" text, "heldBackDetails" text)
      where c.migration_id = ${id} and c.row = v.row and c.state = 'waiting'
        and c.name = v.name and c.organization = v.organization`.execute(tx);
    // Read the digest last, because the update above might have waited for an amendment, which has committed by now.
    const now = await tx.selectFrom('migrations').select('manifest_digest').where('id', '=', id).executeTakeFirst();
    if (now?.manifest_digest !== manifestDigest)
      throw new ManifestAmended(`the manifest of ${id} was amended during the preflight`);
  });
}
