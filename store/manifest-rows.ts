/** The rows of a manifest as they come into the ledger: each organization is open in one migration only. */
import { sql } from 'kysely';
import type { ManifestRow, Named } from '../domain/manifest';
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

/** Of a row as it was supplied: `company_id`, `connection_id`, `named`. */
export function namedIn(rows: 'supplied' | 'corrected') {
  const of = sql.ref(`${rows}.named`);
  return sql`
    (${of}->>'companyId')::uuid, (${of}->>'connectionId')::uuid,
    case when ${of}->>'connectionId' is not null then 'connection' when ${of}->>'companyId' is not null then 'company' end`;
}

/** The other way round. */
export const NAMED_AS_SUPPLIED = sql<Named | null>`
  case when named is not null then jsonb_build_object(
    'companyId', company_id, 'connectionId', case when named = 'connection' then connection_id end) end`;

/** `confirmed_at`, `confirmed_by` of a row that comes in: in the self-service route whoever supplied it has confirmed it. */
export function confirmedBy(migrations: 'm') {
  const m = sql.ref(migrations);
  const ifSelfService = (value: ReturnType<typeof sql>) => sql`case when ${m}.route = 'self-service' then ${value} end`;
  return sql`${ifSelfService(sql`clock_timestamp()`)}, ${ifSelfService(sql`${m}.supplied_by`)}`;
}

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
        (migration_id, row, reference, name, platform_key, organization, family, wave, expected_invoices, held_back,
        company_id, connection_id, named, confirmed_at, confirmed_by)
      select m.id, row, reference, name, m.platform_key, organization, family, wave, "expectedInvoices",
        ${heldBack}::text, ${namedIn('supplied')}, ${confirmedBy('m')}
      from migrations m, jsonb_to_recordset(${group}::jsonb) as supplied (
        row integer, reference text, name text, organization text, family text, wave integer,
        "expectedInvoices" integer, named jsonb)
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
