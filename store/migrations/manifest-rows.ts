/** The rows of a manifest as they come into the ledger: each organization is open in one migration only. */
import { sql } from 'kysely';
import type { Stream } from '../../domain/text/groups';
import { inGroups } from '../../domain/text/groups';
import type { ManifestRow, Named } from '../../domain/companies/manifest';
import type { Database, Queryable } from '../database/database';

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

/** Rows that one statement takes. */
export const ROWS_AT_ONCE = 2_000;

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

/** How rows come into the ledger. */
interface AsInserted {
  /** Why the companies may not be moved yet; null: they may. */
  readonly heldBack: string | null;
  /** Whether their organizations are taken at once, from whoever else would have them. */
  readonly organizationOpen: boolean;
}

/**
 * @returns how many
 * @throws what `violates(error, 'one_open_migration_per_organization')` knows
 */
export async function insertRows(
  tx: Queryable,
  migrationId: string,
  rows: Stream<ManifestRow>,
  { heldBack, organizationOpen }: AsInserted,
): Promise<number> {
  let inserted = 0;
  for await (const group of inGroups(rows, ROWS_AT_ONCE)) {
    await sql`
      insert into companies
        (migration_id, row, reference, name, platform_key, organization, organization_open, family, wave,
        expected_invoices, held_back, company_id, connection_id, named, confirmed_at, confirmed_by)
      select m.id, row, reference, name, m.platform_key, organization, ${organizationOpen}, family, wave,
        "expectedInvoices", ${heldBack}::text, ${namedIn('supplied')}, ${confirmedBy('m')}
      from migrations m, jsonb_to_recordset(${JSON.stringify(group)}::jsonb) as supplied (
        row integer, reference text, name text, organization text, family text, wave integer,
        "expectedInvoices" integer, named jsonb)
      where m.id = ${migrationId}`.execute(tx);
    inserted += group.length;
  }
  return inserted;
}

/** Which of these organizations are open in other migrations. */
export async function findOrganizationOwners(
  db: Database,
  { id, platformKey }: { readonly id: string; readonly platformKey: string },
  rows: Stream<ManifestRow>,
): Promise<readonly TakenOrganization[]> {
  const taken: TakenOrganization[] = [];
  for await (const group of inGroups(rows, ROWS_AT_ONCE)) {
    const found = await sql<TakenOrganization>`
      select supplied.reference, supplied.organization, holder.migration_id as "migrationId"
      from jsonb_to_recordset(${JSON.stringify(group)}::jsonb) as supplied (reference text, organization text)
      join companies holder on holder.platform_key = ${platformKey} and holder.organization_open
        and holder.organization = supplied.organization
      where holder.migration_id <> ${id}`.execute(db);
    taken.push(...found.rows);
  }
  return taken;
}
