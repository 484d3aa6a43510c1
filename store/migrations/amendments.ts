/** Rows that are added to a migration or corrected while it is open. */
import { sql } from 'kysely';
import type { Stream } from '../../domain/text/groups';
import { inGroups } from '../../domain/text/groups';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { Database, Queryable } from '../database/database';
import { violates } from '../database/database';
import type { TakenOrganization } from './manifest-rows';
import { confirmedBy, insertRows, NAMED_AS_SUPPLIED, namedIn, OrganizationTaken, ROWS_AT_ONCE } from './manifest-rows';

/** Why a row is held back that was added or corrected: only a check lets it go. */
export const NOT_CHECKED = 'not checked yet';

export interface Amendment {
  readonly migrationId: string;
  /** Of any file: a row is known by its reference, not by its number. */
  readonly rows: Stream<ManifestRow>;
  /** Of the whole manifest, as it is afterwards. */
  readonly createDigest: () => RowDigest;
}

/** Digests rows, one after the other. */
interface RowDigest {
  add(row: ManifestRow): void;
  hex(): string;
}

/** What became of the rows, by reference. */
export interface Amended {
  readonly added: readonly string[];
  readonly corrected: readonly string[];
  readonly unchanged: number;
  /** They differ, but their move has begun, or somebody has settled that they are not moved: they stay as they are. */
  readonly tooLate: readonly string[];
}

/** Thrown when a migration has ended: latecomers are another migration. */
export class ManifestClosed extends Error {
  override readonly name = 'ManifestClosed';
}

/**
 * Adds rows whose reference is new, and corrects those whose move has not begun, all or none. Each of them is held back
 * until it was checked, and has to be confirmed again, but in the self-service route; the credential of another organization is destroyed.
 *
 * @throws ManifestClosed
 * @throws OrganizationTaken
 */
export async function amendManifest(db: Database, amendment: Amendment): Promise<Amended> {
  try {
    return await db.transaction().execute((tx) => amend(tx, amendment));
  } catch (error) {
    if (!violates(error, 'one_open_migration_per_organization')) throw error;
    // Somebody has taken one meanwhile: who, is seen now.
    return amendManifest(db, amendment);
  }
}

/**
 * Rows are locked before the migration is changed, as claims do it: a claim passes by a row that is being corrected, and
 * a correction waits for a claim. Organizations are taken at the end: rows may exchange theirs, as in a list that had
 * slipped.
 */
async function amend(tx: Queryable, { migrationId, rows, createDigest }: Amendment): Promise<Amended> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${migrationId}, 0))`.execute(tx);
  await assertOpen(tx, migrationId);
  const amended = { added: [] as string[], corrected: [] as string[], unchanged: 0, tooLate: [] as string[] };
  let last = await lastRow(tx, migrationId);
  for await (const group of inGroups(rows, ROWS_AT_ONCE)) {
    const { added, corrected, unchanged, tooLate } = compared(await lockNamed(tx, migrationId, group), group, last);
    await correct(tx, migrationId, corrected);
    last += await insertRows(tx, migrationId, added, { heldBack: NOT_CHECKED, organizationOpen: false });
    amended.added.push(...added.map(referenceOf));
    amended.corrected.push(...corrected.map(referenceOf));
    amended.tooLate.push(...tooLate.map(referenceOf));
    amended.unchanged += unchanged;
  }
  await takeOrganizations(tx, migrationId);
  const digest = createDigest();
  for await (const row of wholeManifest(tx, migrationId)) digest.add(row);
  await tx.updateTable('migrations').set({ manifest_digest: digest.hex() }).where('id', '=', migrationId).execute();
  return amended;
}

const referenceOf = ({ reference }: ManifestRow): string => reference;

/** @throws OrganizationTaken */
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
  if (taken.length > 0) throw new OrganizationTaken(taken);
  await sql`
    update companies set organization_open = true
    where migration_id = ${migrationId} and not organization_open`.execute(tx);
}

/** Open, and for as long as this transaction lasts nobody closes it. */
async function assertOpen(tx: Queryable, migrationId: string): Promise<void> {
  const migration = await tx
    .selectFrom('migrations')
    .select('state')
    .where('id', '=', migrationId)
    .forShare()
    .executeTakeFirst();
  if (!migration || migration.state === 'closed') throw new ManifestClosed(`migration ${migrationId} has ended`);
}

async function* wholeManifest(tx: Queryable, migrationId: string): AsyncGenerator<ManifestRow> {
  for (let after = 0; ;) {
    const page = await manifestRows(tx, migrationId).where('row', '>', after).limit(ROWS_AT_ONCE).execute();
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < ROWS_AT_ONCE) return;
    after = last.row;
  }
}

function manifestRows(tx: Queryable, migrationId: string) {
  return tx
    .selectFrom('companies')
    .select(['row', 'reference', 'name', 'organization', 'wave', 'family', 'expected_invoices as expectedInvoices'])
    .select(NAMED_AS_SUPPLIED.as('named'))
    .where('migration_id', '=', migrationId)
    .orderBy('row');
}

interface KnownRow extends ManifestRow {
  /** Nothing has been done for it yet, and nothing settled. */
  readonly untouched: boolean;
}

async function lockNamed(
  tx: Queryable,
  migrationId: string,
  rows: readonly ManifestRow[],
): Promise<ReadonlyMap<string, KnownRow>> {
  const known = await manifestRows(tx, migrationId)
    .select(
      sql<boolean>`state = 'waiting' and (company_id is null or (named is not null and tries = 0))`.as('untouched'),
    )
    .where(sql<boolean>`reference = any(${rows.map(({ reference }) => reference)}::text[])`)
    .forUpdate()
    .execute();
  return new Map(known.map((row) => [row.reference, row]));
}

async function lastRow(tx: Queryable, migrationId: string): Promise<number> {
  const last = await tx
    .selectFrom('companies')
    .select(({ fn }) => fn.max('row').as('row'))
    .where('migration_id', '=', migrationId)
    .executeTakeFirst();
  return last?.row ?? 0;
}

function compared(before: ReadonlyMap<string, KnownRow>, rows: readonly ManifestRow[], lastRow: number) {
  const added: ManifestRow[] = [];
  const corrected: ManifestRow[] = [];
  const tooLate: ManifestRow[] = [];
  let unchanged = 0;
  let last = lastRow;
  for (const row of rows) {
    const known = before.get(row.reference);
    if (!known) added.push({ ...row, row: (last += 1) });
    else if (isSame(known, row)) unchanged += 1;
    else if (known.untouched) corrected.push({ ...row, row: known.row });
    else tooLate.push(row);
  }
  return { added, corrected, unchanged, tooLate };
}

function isSame(one: ManifestRow, other: ManifestRow): boolean {
  const fields = ['name', 'organization', 'expectedInvoices', 'wave', 'family'] as const;
  const named = ({ named }: ManifestRow): string => `${named?.companyId ?? ''}/${named?.connectionId ?? ''}`;
  return named(one) === named(other) && fields.every((field) => one[field] === other[field]);
}

async function correct(tx: Queryable, migrationId: string, rows: readonly ManifestRow[]): Promise<void> {
  if (rows.length === 0) return;
  const corrected = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as corrected (
    row integer, name text, organization text, family text, wave integer, "expectedInvoices" integer, named jsonb)`;
  const isCorrected = sql`c.migration_id = ${migrationId} and c.row = corrected.row`;
  await sql`
    delete from credentials v using companies c, ${corrected}
    where ${isCorrected} and v.migration_id = c.migration_id and v.row = c.row
      and c.organization <> corrected.organization`.execute(tx);
  await sql`
    update companies c
    set name = corrected.name, organization = corrected.organization, organization_open = false,
        family = corrected.family, wave = corrected.wave, expected_invoices = corrected."expectedInvoices",
        (company_id, connection_id, named, confirmed_at, confirmed_by) =
          (select ${namedIn('corrected')}, ${confirmedBy('m')} from migrations m where m.id = c.migration_id),
        held_back = ${NOT_CHECKED}
    from ${corrected} where ${isCorrected}`.execute(tx);
}

export interface HeldBack {
  readonly reference: string;
  /** What the check found wrong with it, or that it has not come yet. */
  readonly heldBack: string;
}

/** Companies that are not moved until they are checked, or corrected. */
export async function readHeldBack(db: Database, migrationId: string): Promise<readonly HeldBack[]> {
  const { rows } = await sql<HeldBack>`
    select reference, held_back as "heldBack" from companies
    where migration_id = ${migrationId} and state = 'waiting' and held_back is not null
    order by row`.execute(db);
  return rows;
}
