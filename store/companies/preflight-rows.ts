/** The companies that wait for their move: read for the preflight, and held back where it finds a problem. */
import { sql } from 'kysely';
import type { Stream } from '../../domain/text/streams';
import { inChunks } from '../../domain/text/streams';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { FamilySizes } from '../../domain/preflight/company-findings';
import type { OrganizationConflicts } from '../../domain/preflight/organization-conflicts';
import { organizationKey } from '../../domain/preflight/organization-conflicts';
import { SUPPLIED_IDS } from '../migrations/manifest-rows';
import type { Database } from '../database/database';
import { queryOne } from '../database/database';

/** A company that waits for its move. */
export interface PreflightRow extends ManifestRow {
  readonly heldBack: string | null;
}

/** Companies per query: large, because each query reads all rows of the ledger. */
const PAGE = 5_000;

/** Reads the companies that wait for their move, page by page, because a migration can have any number of them. */
export async function* readPreflightRows(db: Database, migrationId: string): AsyncGenerator<readonly PreflightRow[]> {
  let after = 0;
  for (;;) {
    const page = await db
      .selectFrom('companies')
      .select([
        'row',
        'reference',
        'name',
        'organization',
        'expected_invoices as expectedInvoices',
        'wave',
        'family',
        SUPPLIED_IDS.as('named'),
        'held_back as heldBack',
      ])
      .where('migration_id', '=', migrationId)
      .where('state', '=', 'waiting')
      .where('row', '>', after)
      .orderBy('row')
      .limit(PAGE)
      .execute();
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.row;
  }
}

/** Totals of the companies that wait for their move. */
export interface PreflightTotals extends FamilySizes {
  /** Companies that do not exist at the service yet: the client named none, and no earlier try created one. */
  readonly toCreate: number;
}

export async function countPreflightRows(db: Database, migrationId: string): Promise<PreflightTotals> {
  return queryOne(
    db,
    sql<PreflightTotals>`
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
      (select coalesce(sum(size), 0) from families where size > 1)::integer as related,
      (select coalesce(max(size), 0) from families) as "largestFamily"
    from to_move`,
  );
}

/** A company of the account, and an organization that it is connected to in the form of `organizationKey`. */
export interface ConnectedCompany {
  readonly companyId: string;
  readonly organization: string;
}

/** Returns those whose organization waits for its move, without companies that this migration has moved itself. */
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
      -- Arrays are hashed. A join would be planned with statistics that do not know a new manifest yet.
      and (lower(organization) = any(${organizations}::text[])
        or (crossed_at is not null and company_id::text = any(${ids}::text[])))`.execute(db);
  const toMove = new Set(rows.map(({ organization }) => organizationKey(organization)));
  const moved = new Set(rows.map((row) => row.moved));
  return connected.filter(({ companyId, organization }) => toMove.has(organization) && !moved.has(companyId));
}

/**
 * Finds the migrations in which organizations of these companies are open.
 *
 * @param except the migration that asks, which is left out; null: there is none yet
 */
export async function findOpenOrganizations(
  db: Database,
  platformKey: string,
  companies: Stream<Pick<ManifestRow, 'organization'>>,
  except: string | null,
): Promise<OrganizationConflicts['openElsewhere']> {
  const found: OpenOrganization[] = [];
  for await (const group of inChunks(companies, PAGE)) {
    const organizations = group.map(({ organization }) => organizationKey(organization));
    const { rows } = await sql<OpenOrganization>`
      select c.organization, c.migration_id as "migrationId"
      from companies c
      where c.platform_key = ${platformKey} and c.organization_open
        and c.migration_id is distinct from ${except}::text
        and lower(c.organization) = any(${organizations}::text[])`.execute(db);
    found.push(...rows);
  }
  return byOrganization(found);
}

interface OpenOrganization {
  readonly organization: string;
  readonly migrationId: string;
}

function byOrganization(rows: readonly OpenOrganization[]): OrganizationConflicts['openElsewhere'] {
  return new Map(rows.map(({ organization, migrationId }) => [organizationKey(organization), migrationId]));
}

/** The result of checking a company as it was when it was read. */
export interface Verdict extends Pick<ManifestRow, 'row' | 'name' | 'organization'> {
  /** The problem that holds it back; null: none, it can be moved. */
  readonly heldBack: string | null;
}

/** Thrown when rows were added or corrected during the check, because its result says nothing about them. */
export class ManifestAmended extends Error {
  override readonly name = 'ManifestAmended';
}

/**
 * Writes the results of a check. A company that was corrected meanwhile keeps its state until its own check.
 *
 * @param manifestDigest the digest of the manifest when the check began
 * @throws ManifestAmended
 */
export async function recordVerdicts(
  db: Database,
  { id, manifestDigest }: { readonly id: string; readonly manifestDigest: string },
  verdicts: readonly Verdict[],
): Promise<void> {
  if (verdicts.length === 0) return;
  await db.transaction().execute(async (tx) => {
    await sql`
      update companies c set held_back = v."heldBack"
      from jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb) as v (
        row integer, name text, organization text, "heldBack" text)
      where c.migration_id = ${id} and c.row = v.row and c.state = 'waiting'
        and c.name = v.name and c.organization = v.organization`.execute(tx);
    // Read last: an amendment that this update waited for has committed by now.
    const now = await tx.selectFrom('migrations').select('manifest_digest').where('id', '=', id).executeTakeFirst();
    if (now?.manifest_digest !== manifestDigest)
      throw new ManifestAmended(`the manifest of ${id} was amended meanwhile`);
  });
}
