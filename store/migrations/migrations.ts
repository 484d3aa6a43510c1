/** A migration and its manifest: supplied, opened by its workflow, closed at its end. */
import { sql } from 'kysely';
import type { Planned } from '../../domain/planning/estimate';
import type { Stream } from '../../domain/text/groups';
import type { Ending } from '../../domain/migration/migration-state';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { LimitsChange, MigrationLimits } from '../../domain/planning/limits';
import { stragglersIn } from '../../domain/planning/limits';
import type { Route } from '../../platforms/platforms';
import type { WindowOccurrence } from '../../domain/planning/windows';
import type { Database, Queryable } from '../database/database';
import { violates } from '../database/database';
import { isReadyToMove } from '../companies/claimable';
import { insertRows, OrganizationTaken, findOrganizationOwners } from './manifest-rows';

export interface SuppliedMigration {
  readonly id: string;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  /** In the self-service route its start confirms every company. */
  readonly route: Route;
  /** Whether only credentials count that were obtained after their company was confirmed. */
  readonly rotating: boolean;
  readonly limits: MigrationLimits;
  readonly manifestDigest: string;
  readonly suppliedBy: string;
  /** Records of all companies together, where their rows do not say; null: nobody has said. */
  readonly recordsInTotal?: number | null;
  /** Of Temporal, in which it runs. */
  readonly namespace?: string;
}

/** Thrown when a migration of this id is open or closed already: its manifest is not replaced. */
export class MigrationExists extends Error {
  override readonly name = 'MigrationExists';
}

/**
 * Stores a migration with all of its rows, or nothing. What was supplied before under the same id, and never started,
 * is replaced.
 *
 * @param rows gone through once more when one cannot be stored, to say why
 * @returns how many rows
 * @throws MigrationExists
 * @throws OrganizationTaken
 */
export async function supplyMigration(
  db: Database,
  migration: SuppliedMigration,
  rows: Stream<ManifestRow>,
): Promise<number> {
  try {
    return await db.transaction().execute((tx) => storeWhole(tx, migration, rows));
  } catch (error) {
    if (!violates(error, 'one_open_migration_per_organization')) throw error;
    const taken = await findOrganizationOwners(db, migration, rows);
    // Twice in the manifest itself, which is checked before it is supplied.
    if (taken.length === 0) throw error;
    throw new OrganizationTaken(taken);
  }
}

async function storeWhole(tx: Queryable, migration: SuppliedMigration, rows: Stream<ManifestRow>): Promise<number> {
  await tx.deleteFrom('migrations').where('id', '=', migration.id).where('state', '=', 'supplied').execute();
  const inserted = await tx
    .insertInto('migrations')
    .values({
      id: migration.id,
      client: migration.client,
      platform_key: migration.platformKey,
      contact: migration.contact,
      route: migration.route,
      rotating: migration.rotating,
      state: 'supplied',
      limits: JSON.stringify(migration.limits),
      manifest_digest: migration.manifestDigest,
      supplied_by: migration.suppliedBy,
      records_in_total: migration.recordsInTotal ?? null,
      namespace: migration.namespace ?? null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) throw new MigrationExists(`there is a migration ${migration.id} already`);
  return insertRows(tx, migration.id, rows, { heldBack: null, organizationOpen: true });
}

/** The workflow runs: from now on companies may be claimed. */
export async function openMigration(db: Database, migrationId: string): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ state: 'open' })
    .where('id', '=', migrationId)
    .where('state', '=', 'supplied')
    .execute();
}

/** The companies that a run may claim alone, and whether others wait for it. */
export interface Ramp {
  readonly companies: number;
  readonly othersWait: boolean;
}

const NO_RAMP: Ramp = { companies: 0, othersWait: false };

/**
 * Lets this run claim, and no other.
 *
 * @param rampCompanies the run may claim so many alone, the first that can be moved; 0: all
 */
export async function beginRun(db: Database, migrationId: string, run: string, rampCompanies = 0): Promise<Ramp> {
  if (rampCompanies > 0) await chooseRamp(db, migrationId, rampCompanies);
  await db
    .updateTable('migrations')
    .set({ current_run: run, ramp_only: rampCompanies > 0 })
    .where('id', '=', migrationId)
    .execute();
  if (rampCompanies === 0) return NO_RAMP;
  const { rows } = await sql<Ramp>`
    select count(*) filter (where in_ramp)::integer as companies,
      coalesce(bool_or(not in_ramp and state = 'waiting'), false) as "othersWait"
    from companies where migration_id = ${migrationId}`.execute(db);
  return rows[0] ?? NO_RAMP;
}

/** Once for a migration: a run that begins again has the same ramp. */
async function chooseRamp(db: Database, migrationId: string, companies: number): Promise<void> {
  await sql`
    update companies set in_ramp = true
    from (
      select c.row from companies c
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and ${isReadyToMove()}
        and not exists (select from companies r where r.migration_id = ${migrationId} and r.in_ramp)
      order by c.wave nulls last, c.confirmed_at, c.row
      limit ${companies}
    ) first
    where companies.migration_id = ${migrationId} and companies.row = first.row`.execute(db);
}

/** Whether companies of the ramp are still to be moved, or more of them to be verified than the rest need not wait for. */
export async function rampIsOpen(db: Database, migrationId: string): Promise<boolean> {
  const { rows } = await sql<{ companies: number; syncing: number; toMove: boolean | null }>`
    select count(*)::integer as companies, count(*) filter (where c.state = 'syncing')::integer as syncing,
      bool_or(c.state = 'importing' or (v.row is not null and ${isReadyToMove()})) as "toMove"
    from companies c
    join migrations m on m.id = c.migration_id
    left join credentials v on v.migration_id = c.migration_id and v.row = c.row
    where c.migration_id = ${migrationId} and c.in_ramp`.execute(db);
  const { companies = 0, syncing = 0, toMove } = rows[0] ?? {};
  return toMove === true || syncing > stragglersIn(companies);
}

export async function setPaused(db: Database, migrationId: string, paused: boolean): Promise<void> {
  await db.updateTable('migrations').set({ paused }).where('id', '=', migrationId).execute();
}

/** Companies may be claimed in this opening alone; null: at any time. */
export async function setWindowOccurrence(
  db: Database,
  migrationId: string,
  opening: WindowOccurrence | null,
): Promise<void> {
  await db
    .updateTable('migrations')
    .set({
      window_opens_at: opening === null ? null : new Date(opening.opensAt),
      window_closes_at: opening === null ? null : new Date(opening.closesAt),
    })
    .where('id', '=', migrationId)
    .execute();
}

/** The limits in force, and the time by the clock that every claim is held to. */
export async function readLimits(
  db: Database,
  migrationId: string,
): Promise<{ readonly limits: MigrationLimits; readonly now: Date }> {
  return db
    .selectFrom('migrations')
    .select(['limits', sql<Date>`clock_timestamp()`.as('now')])
    .where('id', '=', migrationId)
    .executeTakeFirstOrThrow();
}

/** Nothing is claimed any more; what is in the air ends by itself. */
export async function stopClaims(db: Database, migrationId: string): Promise<void> {
  await db.updateTable('migrations').set({ state: 'closed' }).where('id', '=', migrationId).execute();
}

/** Changes limits; what runs reads them with its next group. */
export async function changeLimits(db: Database, migrationId: string, limits: LimitsChange): Promise<void> {
  await sql`
    update migrations set limits = limits || ${JSON.stringify(limits)}::jsonb where id = ${migrationId}`.execute(db);
}

/** Closes a migration: nothing is claimed any more, its organizations are free for another. */
export async function closeMigration(db: Database, migrationId: string, ending: Ending): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('migrations')
      .set({ state: 'closed', ending, closed_at: sql<Date>`coalesce(closed_at, clock_timestamp())` })
      .where('id', '=', migrationId)
      .execute();
    await tx
      .updateTable('companies')
      .set({ organization_open: false })
      .where('migration_id', '=', migrationId)
      .execute();
  });
}

export interface StoredMigration {
  readonly id: string;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly route: Route;
  readonly rotating: boolean;
  readonly state: 'supplied' | 'open' | 'closed';
  readonly ending: Ending | null;
  readonly paused: boolean;
  readonly manifestDigest: string;
  readonly suppliedBy: string;
  readonly suppliedAt: Date;
  readonly closedAt: Date | null;
  readonly vaultDestroyedAt: Date | null;
  /** What was expected when its start was proposed. */
  readonly planned: Planned | null;
}

export async function readMigration(db: Database, migrationId: string): Promise<StoredMigration | undefined> {
  return db
    .selectFrom('migrations')
    .select([
      'id',
      'client',
      'platform_key as platformKey',
      'contact',
      'route',
      'rotating',
      'state',
      'ending',
      'paused',
      'manifest_digest as manifestDigest',
      'supplied_by as suppliedBy',
      'supplied_at as suppliedAt',
      'closed_at as closedAt',
      'vault_destroyed_at as vaultDestroyedAt',
      'planned',
    ])
    .where('id', '=', migrationId)
    .executeTakeFirst();
}
