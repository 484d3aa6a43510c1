/** Finds and confirms companies in the ledger, which is the source of truth for their states. */
import { sql, type RawBuilder } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import { oneRow, type Database } from '../database/database';

/**
 * Matches companies `c` by their rows. Use it in a statement that joins `c` to a record set. Without this condition,
 * Postgres does not know that the record set is small, and reads the whole table.
 */
export function inRows(rows: readonly number[]): RawBuilder<boolean> {
  return sql`c.row = any(${rows}::integer[])`;
}

/**
 * Matches companies `c` that are in a state. Written so that Postgres cannot use the index on the state, and a
 * statement with row numbers uses the primary key instead. Every change of state leaves a dead entry in the index on
 * the state, and Postgres reads the dead entries until it vacuums the table.
 */
export function inState(state: CompanyState): RawBuilder<boolean> {
  return sql`(c.state = ${state}) is true`;
}

/** Returns the given rows that no attempt has claimed yet, except companies whose ids the client has supplied. */
export async function readUntriedRows(
  db: Database,
  migrationId: string,
  rows: readonly number[],
): Promise<readonly number[]> {
  const { rows: untried } = await sql<{ row: number }>`
    select c.row from companies c
    where c.migration_id = ${migrationId} and ${inRows(rows)} and c.tries = 0 and c.named is null
    order by c.row`.execute(db);
  return untried.map(({ row }) => row);
}

/** The client's confirmation that its own application no longer uses these companies' tokens. */
export interface Confirmation {
  readonly migrationId: string;
  readonly companies: 'all' | readonly string[];
  readonly by: string;
  readonly at: string;
}

/**
 * Records confirmations of companies that are waiting. A company keeps its first confirmation. Ignores references that
 * are not in the manifest.
 *
 * @returns false if each of the companies had a confirmation already
 */
export async function confirmDisabled(db: Database, confirmation: Confirmation): Promise<boolean> {
  const { migrationId, companies, by, at } = confirmation;
  // A company that was left out does not make a confirmation of all companies incomplete.
  const chosen = companies === 'all' ? sql`state = 'waiting'` : sql`reference = any(${companies})`;
  const { isMissing } = await oneRow<{ readonly isMissing: boolean }>(db)`
    select exists (
      select from companies where migration_id = ${migrationId} and confirmed_at is null and ${chosen}) as "isMissing"`;
  if (!isMissing) return false;
  await sql`
    update companies set confirmed_at = ${at}::timestamptz, confirmed_by = ${by}
    where migration_id = ${migrationId} and state = 'waiting' and confirmed_at is null and ${chosen}`.execute(db);
  return true;
}

/** The people who have confirmed that syncing is off. */
export interface Confirmers {
  readonly people: number;
  /** Names in alphabetical order, at most as many as {@link readConfirmers} was asked for. */
  readonly names: readonly string[];
}

/** Reads who has confirmed that syncing is off, with at most `limit` names. */
export async function readConfirmers(db: Database, migrationId: string, limit: number): Promise<Confirmers> {
  const { rows } = await sql<{ by: string; people: number }>`
    select confirmed_by as by, (count(*) over ())::integer as people from companies
    where migration_id = ${migrationId} and confirmed_by is not null
    group by confirmed_by order by by limit ${limit}`.execute(db);
  return { people: rows[0]?.people ?? 0, names: rows.map(({ by }) => by) };
}

/**
 * Reads the time of the client's last confirmation before the first company began to move; null if there is none. This
 * is when step 4 ended, unless it began later.
 */
export async function readSyncDisabledAt(db: Database, migrationId: string): Promise<Date | null> {
  const { at } = await oneRow<{ at: Date | null }>(db)`
    select max(confirmed_at) as at from companies
    where migration_id = ${migrationId} and confirmed_at <= coalesce(
      (select min(coalesce(first_claimed_at, claimed_at)) from companies where migration_id = ${migrationId}),
      'infinity')`;
  return at;
}

/** Withdraws the confirmation of every company that is waiting. */
export async function withdrawConfirmations(db: Database, migrationId: string): Promise<void> {
  await db
    .updateTable('companies')
    .set({ confirmed_at: null, confirmed_by: null })
    .where('migration_id', '=', migrationId)
    .where('state', '=', 'waiting')
    .execute();
}

/** Returns those of the given references that do not belong to any company of the manifest. */
export async function findUnknownReferences(
  db: Database,
  migrationId: string,
  references: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ reference: string }>`
    select named.reference from unnest(${references}::text[]) as named (reference)
    where not exists (
      select from companies c where c.migration_id = ${migrationId} and c.reference = named.reference)`.execute(db);
  return rows.map(({ reference }) => reference);
}

/** Returns the references of the companies with these ids at the service, by id. Omits unknown ids. */
export async function readReferences(
  db: Database,
  migrationId: string,
  serviceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (serviceIds.length === 0) return new Map();
  const companies = await db
    .selectFrom('companies')
    .select(['reference', sql<string>`company_id::text`.as('id')])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`company_id = any(${serviceIds}::uuid[])`)
    .execute();
  return new Map(companies.map(({ id, reference }) => [id, reference]));
}
