/** The supplied details before anything is moved: read for the preflight, and held back where it finds something wrong. */
import { sql } from 'kysely';
import type { ManifestRow } from '../domain/manifest';
import { organizationKey } from '../domain/preflight';
import { NAMED_AS_SUPPLIED } from './manifest-rows';
import type { Database } from './database';

/** A company that can still be checked before its move. */
export interface UncheckedCompany extends ManifestRow {
  /** Whether the account has it already, named by the client or from an earlier try. */
  readonly created: boolean;
  /** The company of the service that an earlier try has authorized; null: there is none. */
  readonly authorized: string | null;
  readonly heldBack: string | null;
}

/** The companies that wait for their move. */
export async function readToMove(db: Database, migrationId: string): Promise<readonly UncheckedCompany[]> {
  return db
    .selectFrom('companies')
    .select([
      'row',
      'reference',
      'name',
      'organization',
      'expected_invoices as expectedInvoices',
      'wave',
      'family',
      NAMED_AS_SUPPLIED.as('named'),
      sql<boolean>`company_id is not null`.as('created'),
      sql<string | null>`case when crossed_at is not null then company_id end`.as('authorized'),
      'held_back as heldBack',
    ])
    .where('migration_id', '=', migrationId)
    .where('state', '=', 'waiting')
    .orderBy('row')
    .execute();
}

/**
 * Which of these organizations are open in a migration, as `organizationKey` writes them, and in which.
 *
 * @param except the migration that asks
 */
export async function findOpenElsewhere(
  db: Database,
  platformKey: string,
  organizations: Iterable<string>,
  except: string | null,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ organization: string; migrationId: string }>`
    select c.organization, c.migration_id as "migrationId"
    from companies c
    where c.platform_key = ${platformKey} and c.organization_open
      and c.migration_id is distinct from ${except}::text
      and lower(c.organization) = any(${[...organizations]}::text[])`.execute(db);
  return new Map(rows.map(({ organization, migrationId }) => [organizationKey(organization), migrationId]));
}

/** What was found of a company as it was when it was read; null: nothing, it may be moved. */
export interface Verdict extends Pick<ManifestRow, 'row' | 'name' | 'organization'> {
  readonly heldBack: string | null;
}

/** Writes what a check found. A company that was corrected meanwhile waits for its own check. */
export async function holdBack(db: Database, migrationId: string, verdicts: readonly Verdict[]): Promise<void> {
  if (verdicts.length === 0) return;
  await sql`
    update companies c set held_back = v."heldBack"
    from jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb) as v (
      row integer, name text, organization text, "heldBack" text)
    where c.migration_id = ${migrationId} and c.row = v.row and c.state = 'waiting'
      and c.name = v.name and c.organization = v.organization`.execute(db);
}
