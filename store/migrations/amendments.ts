/** Amendments: rows that are added to the manifest or corrected while the migration is open. */
import { sql } from 'kysely';
import { inChunks, type Stream } from '../../domain/text/streams';
import { NOT_CHECKED } from '../../domain/companies/company-state';
import type { ManifestRow } from '../../domain/companies/manifest';
import { allRows, violatesConstraint, updateMigration, type Database, type Queryable } from '../database/database';
import { inPages } from '../database/pages';
import { ManifestDigest } from './manifest-digest';
import {
  confirmationColumns,
  insertRows,
  selectManifestRows,
  suppliedIdColumns,
  OrganizationTaken,
  ROWS_PER_STATEMENT,
  type TakenOrganization,
} from './manifest-rows';

export interface Amendment {
  readonly migrationId: string;
  /** The added and corrected rows. Existing rows are found by reference; the row numbers are ignored. */
  readonly rows: Stream<ManifestRow>;
}

/** Outcome of an amendment. The lists contain references. */
export interface AmendmentResult {
  readonly added: readonly string[];
  readonly corrected: readonly string[];
  readonly unchanged: number;
  /** Companies with too few records whose expected number was corrected. They must be retried. */
  readonly recounted: readonly string[];
  /** Rows that were not corrected, because their move has begun or they were left out. */
  readonly tooLate: readonly string[];
}

/** Thrown when a migration has ended. Additional companies need a new migration. */
export class AmendedMigrationEnded extends Error {
  override readonly name = 'AmendedMigrationEnded';
}

/**
 * Adds rows with new references and corrects rows whose move has not begun, in one transaction.
 *
 * - An added or corrected row is held back until a preflight has checked it. In the managed route, the client must also
 *   confirm it, even if it was confirmed before the correction.
 * - If the organization of a row changes, its credential is deleted.
 * - If a company failed because it has fewer records than expected, only its expected number can be corrected. It is
 *   not held back. A retry compares with the new number.
 *
 * @throws {AmendedMigrationEnded}
 * @throws {OrganizationTaken}
 */
export async function amendManifest(db: Database, amendment: Amendment): Promise<AmendmentResult> {
  try {
    return await db.transaction().execute((tx) => amend(tx, amendment));
  } catch (error) {
    if (!violatesConstraint(error, 'one_open_migration_per_organization')) throw error;
    // Another migration has just taken an organization. The second attempt reports which organization it is.
    return amendManifest(db, amendment);
  }
}

/**
 * Amends the manifest in a transaction. Claims skip rows that are being corrected, and a correction waits for a claim
 * in progress. Takes the organizations last, because an amendment can swap them between rows, for example to correct a
 * shifted column.
 */
async function amend(tx: Queryable, { migrationId, rows }: Amendment): Promise<AmendmentResult> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${migrationId}, 0))`.execute(tx);
  await assertOpen(tx, migrationId);
  const result = {
    added: [] as string[],
    corrected: [] as string[],
    recounted: [] as string[],
    unchanged: 0,
    tooLate: [] as string[],
  };
  let last = await readLastRowNumber(tx, migrationId);
  for await (const group of inChunks(rows, ROWS_PER_STATEMENT)) {
    const before = await lockRows(tx, migrationId, group);
    const { added, corrected, recounted, unchanged, tooLate } = classify(before, group, last);
    await correctRows(tx, migrationId, corrected);
    await correctExpectations(tx, migrationId, recounted);
    last += await insertRows(tx, migrationId, added, { heldBack: NOT_CHECKED, organizationOpen: false });
    result.added.push(...added.map(referenceOf));
    result.corrected.push(...corrected.map(referenceOf));
    result.recounted.push(...recounted.map(referenceOf));
    result.tooLate.push(...tooLate.map(referenceOf));
    result.unchanged += unchanged;
  }
  await takeOrganizations(tx, migrationId);
  const digest = await computeManifestDigest(tx, migrationId);
  await updateMigration(tx, migrationId, { manifest_digest: digest });
  return result;
}

const referenceOf = ({ reference }: ManifestRow): string => reference;

/**
 * Takes the organizations of all amended rows, so that no other open migration can have them.
 *
 * @throws {OrganizationTaken} when another row of this migration, or another open migration, has the same organization
 */
async function takeOrganizations(tx: Queryable, migrationId: string): Promise<void> {
  const { rows: taken } = await sql<TakenOrganization>`
    with amended as (
      select reference, platform_key, organization, count(*) over (partition by organization) as companies
      from companies
      where migration_id = ${migrationId} and not organization_open
    )
    select amended.reference, amended.organization, holder.migration_id as "migrationId"
    from amended
    join companies holder on holder.platform_key = amended.platform_key
      and holder.organization = amended.organization and holder.organization_open
    union all
    select reference, organization, ${migrationId} from amended where companies > 1`.execute(tx);
  if (taken.length > 0) throw new OrganizationTaken(taken, migrationId);
  await sql`
    update companies set organization_open = true
    where migration_id = ${migrationId} and not organization_open`.execute(tx);
}

/** Checks that the migration has not ended, and locks it, so that it cannot end during the transaction. */
async function assertOpen(tx: Queryable, migrationId: string): Promise<void> {
  const migration = await tx
    .selectFrom('migrations')
    .select('state')
    .where('id', '=', migrationId)
    .forShare()
    .executeTakeFirst();
  if (!migration || migration.state === 'closed') throw new AmendedMigrationEnded(`migration ${migrationId} has ended`);
}

/** Computes the digest of the companies, as the manifest and its amendments describe them. */
export async function computeManifestDigest(db: Queryable, migrationId: string): Promise<string> {
  const digest = new ManifestDigest();
  const pages = inPages('row', ROWS_PER_STATEMENT, (after) =>
    selectManifestRows(db, migrationId).where('row', '>', after).limit(ROWS_PER_STATEMENT).execute(),
  );
  for await (const page of pages) for (const row of page) digest.add(row);
  return digest.hex();
}

interface LockedRow extends ManifestRow {
  /** True if the company's move has not begun and the company was not left out. */
  readonly untouched: boolean;
  /** True if the company failed because it has fewer records than expected. */
  readonly incomplete: boolean;
}

async function lockRows(
  tx: Queryable,
  migrationId: string,
  rows: readonly ManifestRow[],
): Promise<ReadonlyMap<string, LockedRow>> {
  const known = await selectManifestRows(tx, migrationId)
    .select(
      sql<boolean>`state = 'waiting' and (company_id is null or (named is not null and tries = 0))`.as('untouched'),
    )
    .select(sql<boolean>`state = 'failed' and failure = 'incomplete'`.as('incomplete'))
    .where(sql<boolean>`reference = any(${rows.map(({ reference }) => reference)}::text[])`)
    .forUpdate()
    .execute();
  return new Map(known.map((row) => [row.reference, row]));
}

async function readLastRowNumber(tx: Queryable, migrationId: string): Promise<number> {
  const last = await tx
    .selectFrom('companies')
    .select(({ fn }) => fn.max('row').as('row'))
    .where('migration_id', '=', migrationId)
    .executeTakeFirst();
  return last?.row ?? 0;
}

function classify(before: ReadonlyMap<string, LockedRow>, rows: readonly ManifestRow[], lastRow: number) {
  const added: ManifestRow[] = [];
  const corrected: ManifestRow[] = [];
  const recounted: ManifestRow[] = [];
  const tooLate: ManifestRow[] = [];
  let unchanged = 0;
  let last = lastRow;
  for (const row of rows) {
    const known = before.get(row.reference);
    if (!known) added.push({ ...row, row: (last += 1) });
    else if (isSame(known, row)) unchanged += 1;
    else if (known.untouched) corrected.push({ ...row, row: known.row });
    else if (known.incomplete && isSame(known, { ...row, expectedInvoices: known.expectedInvoices }))
      recounted.push(row);
    else tooLate.push(row);
  }
  return { added, corrected, recounted, unchanged, tooLate };
}

function isSame(one: ManifestRow, other: ManifestRow): boolean {
  const fields = ['name', 'organization', 'expectedInvoices', 'wave', 'family'] as const;
  const idsOf = ({ existing }: ManifestRow): string => `${existing?.companyId ?? ''}/${existing?.connectionId ?? ''}`;
  return idsOf(one) === idsOf(other) && fields.every((field) => one[field] === other[field]);
}

async function correctRows(tx: Queryable, migrationId: string, rows: readonly ManifestRow[]): Promise<void> {
  if (rows.length === 0) return;
  const corrected = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as corrected (
    row integer, name text, organization text, family text, wave integer, "expectedInvoices" integer, existing jsonb)`;
  const isCorrected = sql`c.migration_id = ${migrationId} and c.row = corrected.row`;
  const ofOtherOrganizations = sql`
    using companies c, ${corrected}
    where ${isCorrected} and v.migration_id = c.migration_id and v.row = c.row
      and c.organization <> corrected.organization`;
  await sql`delete from credentials v ${ofOtherOrganizations}`.execute(tx);
  await sql`delete from staged_credentials v ${ofOtherOrganizations}`.execute(tx);
  await sql`
    update companies c
    set name = corrected.name, organization = corrected.organization, organization_open = false,
        family = corrected.family, wave = corrected.wave, expected_invoices = corrected."expectedInvoices",
        (company_id, connection_id, named, confirmed_at, confirmed_by) =
          (select ${suppliedIdColumns('corrected')}, ${confirmationColumns('m')} from migrations m where m.id = c.migration_id),
        held_back = ${NOT_CHECKED}, held_back_details = null
    from ${corrected} where ${isCorrected}`.execute(tx);
}

/** Corrects only the expected numbers. The companies keep their states, and nothing has to be confirmed again. */
async function correctExpectations(tx: Queryable, migrationId: string, rows: readonly ManifestRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update companies c set expected_invoices = corrected."expectedInvoices"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as corrected (reference text, "expectedInvoices" integer)
    where c.migration_id = ${migrationId} and c.reference = corrected.reference`.execute(tx);
}

/** A company that cannot be moved until it has been checked or corrected. */
export interface HeldBack {
  readonly reference: string;
  /** The problem that the preflight found, without the names of other clients, or {@link NOT_CHECKED}. */
  readonly heldBack: string;
  /** The same problem, including the names of other clients' migrations, for support only; null if it names none. */
  readonly heldBackDetails: string | null;
}

/** Lists the companies that are held back, in manifest order. */
export async function readHeldBack(db: Database, migrationId: string): Promise<readonly HeldBack[]> {
  return allRows<HeldBack>(db)`
    select reference, held_back as "heldBack", held_back_details as "heldBackDetails" from companies
    where migration_id = ${migrationId} and state = 'waiting' and held_back is not null
    order by row`;
}
