/** Inserts manifest rows into the ledger. An organization can belong to only one migration that has not ended. */
import { sql } from 'kysely';
import { inChunks, type Stream } from '../../domain/text/streams';
import type { ManifestRow, ExistingCompany } from '../../domain/companies/manifest';
import type { Queryable } from '../database/database';
import { analyzeCompanies } from '../database/statistics';

/**
 * A row whose organization already belongs to another migration that has not ended or, after an amendment, to another
 * row of the same migration.
 */
export interface TakenOrganization {
  readonly reference: string;
  readonly organization: string;
  readonly migrationId: string;
}

/**
 * Thrown when organizations of the manifest already belong to another migration that has not ended or, after an
 * amendment, to another row of the same migration.
 */
export class OrganizationTaken extends Error {
  override readonly name = 'OrganizationTaken';
  /** @param amended id of the amended migration; absent if the rows belong to a migration that does not exist yet */
  constructor(
    readonly taken: readonly TakenOrganization[],
    amended?: string,
  ) {
    const listed = taken
      .slice(0, MAX_LISTED)
      .map(({ reference, organization, migrationId }) =>
        migrationId === amended
          ? `${reference}: another row of ${migrationId} also has organization ${organization}`
          : `${reference}: organization ${organization} is already part of migration ${migrationId}`,
      );
    const more = taken.length - listed.length;
    super([...listed, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
  }
}

/**
 * Maximum number of organizations in the message. Without a limit, the message about a manifest that another migration
 * has already supplied would list all of its rows.
 */
const MAX_LISTED = 5;

export const ROWS_PER_STATEMENT = 2_000;

/**
 * Builds the values of the columns `company_id`, `connection_id` and `named` from the ids that the client supplied.
 * `named` is `connection` if it supplied a connection id, `company` if only a company id, otherwise null.
 */
export function suppliedIdColumns(rows: 'supplied' | 'corrected') {
  const ids = sql.ref(`${rows}.existing`);
  return sql`
    (${ids}->>'companyId')::uuid, (${ids}->>'connectionId')::uuid,
    case when ${ids}->>'connectionId' is not null then 'connection' when ${ids}->>'companyId' is not null then 'company' end`;
}

/** The SQL that turns the columns `company_id`, `connection_id` and `named` into the ids that the client supplied. */
const SUPPLIED_IDS = sql<ExistingCompany | null>`
  case when named is not null then jsonb_build_object(
    'companyId', company_id, 'connectionId', case when named = 'connection' then connection_id end) end`;

/** Selects the companies of a migration as rows of its manifest, in order. */
export function selectManifestRows(db: Queryable, migrationId: string) {
  return db
    .selectFrom('companies')
    .select(['row', 'reference', 'name', 'organization', 'wave', 'family', 'expected_invoices as expectedInvoices'])
    .select(SUPPLIED_IDS.as('existing'))
    .where('migration_id', '=', migrationId)
    .orderBy('row');
}

/**
 * Builds the values of the columns `confirmed_at` and `confirmed_by` of a new or corrected row. In the self-service
 * route, supplying a company also confirms it. In the managed route, the client confirms it later.
 */
export function confirmationColumns(migrations: 'm') {
  const m = sql.ref(migrations);
  const ifSelfService = (value: ReturnType<typeof sql>) => sql`case when ${m}.route = 'self-service' then ${value} end`;
  return sql`${ifSelfService(sql`clock_timestamp()`)}, ${ifSelfService(sql`${m}.supplied_by`)}`;
}

interface InsertOptions {
  /** Why the companies are held back; null if they are not. */
  readonly heldBack: string | null;
  /** True: take the organizations immediately. False: the caller takes them later in the transaction. */
  readonly organizationOpen: boolean;
}

/**
 * Inserts rows into the ledger.
 *
 * @returns the number of inserted rows
 * @throws a violation of the constraint `one_open_migration_per_organization`
 */
export async function insertRows(
  tx: Queryable,
  migrationId: string,
  rows: Stream<ManifestRow>,
  { heldBack, organizationOpen }: InsertOptions,
): Promise<number> {
  let inserted = 0;
  for await (const group of inChunks(rows, ROWS_PER_STATEMENT)) {
    await sql`
      insert into companies
        (migration_id, row, reference, name, platform_key, organization, organization_open, family, wave,
        expected_invoices, held_back, company_id, connection_id, named, confirmed_at, confirmed_by)
      select m.id, row, reference, name, m.platform_key, organization, ${organizationOpen}, family, wave,
        "expectedInvoices", ${heldBack}::text, ${suppliedIdColumns('supplied')}, ${confirmationColumns('m')}
      from migrations m, jsonb_to_recordset(${JSON.stringify(group)}::jsonb) as supplied (
        row integer, reference text, name text, organization text, family text, wave integer,
        "expectedInvoices" integer, existing jsonb)
      where m.id = ${migrationId}`.execute(tx);
    inserted += group.length;
  }
  await analyzeCompanies(tx);
  return inserted;
}

/** Lists the rows whose organizations belong to other migrations that have not ended. */
export async function findTakenOrganizations(
  db: Queryable,
  { id, platformKey }: { readonly id: string; readonly platformKey: string },
  rows: Stream<ManifestRow>,
): Promise<readonly TakenOrganization[]> {
  const taken: TakenOrganization[] = [];
  for await (const group of inChunks(rows, ROWS_PER_STATEMENT)) {
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
