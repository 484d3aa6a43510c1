/** The rows of a manifest as they come into the ledger: each organization is open in one migration only. */
import { sql } from 'kysely';
import type { ManifestRow } from '../domain/manifest';
import type { Database, Queryable } from './database';

export interface TakenOrganization {
  readonly reference: string;
  readonly organization: string;
  readonly migrationId: string;
}

/** Thrown when an organization of the manifest is open in another migration. */
export class OrganizationTaken extends Error {
  override readonly name = 'OrganizationTaken';
  constructor(readonly taken: readonly TakenOrganization[]) {
    const named = taken
      .slice(0, NAMED_AT_MOST)
      .map((one) => `${one.reference} (organization ${one.organization}) is open in migration ${one.migrationId}`);
    const more = taken.length - named.length;
    super([...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
  }
}

/** A manifest may be supplied twice as a whole: its message says so in a few lines. */
const NAMED_AT_MOST = 5;

const ROWS_PER_INSERT = 2_000;

/**
 * @param heldBack why the companies may not be moved yet; null: they may
 * @throws what `violates(error, 'one_open_migration_per_organization')` knows
 */
export async function insertRows(
  tx: Queryable,
  migrationId: string,
  rows: readonly ManifestRow[],
  heldBack: string | null = null,
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const group = JSON.stringify(rows.slice(from, from + ROWS_PER_INSERT));
    await sql`
      insert into companies
        (migration_id, row, reference, name, platform_key, organization, family, wave, expected_invoices, held_back)
      select m.id, row, reference, name, m.platform_key, organization, family, wave, "expectedInvoices",
        ${heldBack}::text
      from migrations m, jsonb_to_recordset(${group}::jsonb) as supplied (
        row integer, reference text, name text, organization text, family text, wave integer,
        "expectedInvoices" integer)
      where m.id = ${migrationId}`.execute(tx);
  }
}

/** Who has the organizations of these rows: companies of other migrations, or of the same one that are none of them. */
export async function whoHasThem(
  db: Database,
  { id, platformKey }: { readonly id: string; readonly platformKey: string },
  rows: readonly ManifestRow[],
): Promise<readonly TakenOrganization[]> {
  const { rows: taken } = await sql<TakenOrganization>`
    with supplied as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (reference text, organization text)
    )
    select supplied.reference, supplied.organization, holder.migration_id as "migrationId"
    from supplied
    join companies holder on holder.platform_key = ${platformKey} and holder.organization_open
      and holder.organization = supplied.organization
    where holder.migration_id <> ${id}
      or holder.reference not in (select reference from supplied)`.execute(db);
  return taken;
}
