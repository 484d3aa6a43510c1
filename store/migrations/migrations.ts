/**
 * A migration and its manifest. `ferry start` supplies a migration, its workflow opens it, and the end of the migration
 * closes it. Only the current run of an open migration can claim companies, only within the window, and not during a
 * pause.
 */
import { sql } from 'kysely';
import type { PlannedEstimate } from '../../domain/planning/estimate';
import type { Stream } from '../../domain/text/streams';
import type { Ending } from '../../domain/migration/migration-state';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { LimitsChange, MigrationLimits } from '../../domain/planning/limits';
import { NO_DECISIONS, releaseOf, type Release } from '../../domain/decisions/release';
import type { DecisionRules } from '../../domain/migration/plan';
import type { Route } from '../../platforms/platforms';
import type { WindowOccurrence } from '../../domain/planning/windows';
import { violatesConstraint, updateMigration, type Database, type Queryable } from '../database/database';
import { chooseRamp } from '../companies/ramp';
import { insertRows, OrganizationTaken, findTakenOrganizations } from './manifest-rows';

export interface SuppliedMigration {
  readonly id: string;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  /** In the self-service route, supplying the manifest confirms every company. */
  readonly route: Route;
  /**
   * True in the managed route if the platform replaces refresh tokens on use. A credential then counts only if it was
   * obtained after the confirmation.
   */
  readonly rotating: boolean;
  readonly limits: MigrationLimits;
  readonly manifestDigest: string;
  readonly suppliedBy: string;
  /**
   * Total number of records of all companies. Used to estimate the number of records of the companies whose row does
   * not give a number of invoices. Null or absent: unknown.
   */
  readonly recordsInTotal?: number | null;
  /** The rules for decisions when the migration was created. Later changes of approvers are decisions. */
  readonly decisions: DecisionRules;
  /** Reference of the company to move first; null for the first company that can be moved. */
  readonly firstCompany: string | null;
  /** Temporal namespace of its workflow. */
  readonly namespace?: string;
}

/** Thrown when a migration with this id has already been opened, so that its manifest cannot be replaced. */
export class MigrationExists extends Error {
  override readonly name = 'MigrationExists';
}

/**
 * Runs the start of a migration while no other process starts the same migration. Waits until another start has ended.
 * The work gets the only connection that it needs, so that many starts at once do not wait for each other's.
 */
export async function whileStarting<Result>(
  db: Database,
  migrationId: string,
  work: (connection: Database) => Promise<Result>,
): Promise<Result> {
  return db.connection().execute(async (connection) => {
    const key = sql`hashtextextended(${migrationId}, 2)`;
    await sql`select pg_advisory_lock(${key})`.execute(connection);
    try {
      return await work(connection);
    } finally {
      // If the connection is lost, so is the lock.
      await sql`select pg_advisory_unlock(${key})`.execute(connection).catch(() => undefined);
    }
  });
}

/**
 * Stores a migration and all of its rows in one transaction. Replaces a migration with the same id that has not been
 * opened.
 *
 * @param rows read a second time if an organization is taken, to report which organization it is
 * @returns the number of rows
 * @throws {MigrationExists}
 * @throws {OrganizationTaken}
 */
export async function supplyMigration(
  db: Database,
  migration: SuppliedMigration,
  rows: Stream<ManifestRow>,
): Promise<number> {
  try {
    return await db.transaction().execute((tx) => insertMigration(tx, migration, rows));
  } catch (error) {
    if (!violatesConstraint(error, 'one_open_migration_per_organization')) throw error;
    const taken = await findTakenOrganizations(db, migration, rows);
    // No other migration has the organization, so the manifest contains it twice. `ferry check` and `ferry start`
    // report duplicates with their line numbers before the manifest is stored.
    if (taken.length === 0) throw error;
    throw new OrganizationTaken(taken);
  }
}

async function insertMigration(
  tx: Queryable,
  migration: SuppliedMigration,
  rows: Stream<ManifestRow>,
): Promise<number> {
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
      decision_rules: JSON.stringify(migration.decisions),
      requested_first: migration.firstCompany,
      released: releaseOf(migration.route, NO_DECISIONS),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) throw new MigrationExists(`migration ${migration.id} already exists`);
  return insertRows(tx, migration.id, rows, { heldBack: null, organizationOpen: true });
}

/** Deletes a migration that no workflow has opened, so that other migrations can take its organizations. */
export async function discardSupplied(db: Database, migrationId: string): Promise<void> {
  await db.deleteFrom('migrations').where('id', '=', migrationId).where('state', '=', 'supplied').execute();
}

/** Opens a supplied migration when its workflow starts. Before that, none of its companies can be claimed. */
export async function openMigration(db: Database, migrationId: string): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ state: 'open' })
    .where('id', '=', migrationId)
    .where('state', '=', 'supplied')
    .execute();
}

/** Thrown when no recorded decision has released the companies that a run would move. */
export class NotReleased extends Error {
  override readonly name = 'NotReleased';
}

/**
 * Makes `run` the only run that can claim companies. From now on, earlier runs claim nothing.
 *
 * @param rampCompanies number of companies in the ramp, to which claims are restricted; 0 for no ramp
 * @throws {NotReleased} if not all companies are released
 */
export async function beginRun(db: Database, migrationId: string, run: string, rampCompanies = 0): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const begun = await tx
      .updateTable('migrations')
      .set({ current_run: run, ramp_only: rampCompanies > 0 })
      .where('id', '=', migrationId)
      .where('released', '=', 'all')
      .returning('id')
      .executeTakeFirst();
    if (!begun) throw new NotReleased(`no recorded decision allows all companies of ${migrationId} to be moved`);
    if (rampCompanies > 0) await chooseRamp(tx, migrationId, rampCompanies);
  });
}

/** Stores which companies are released. Called only when a decision is recorded or restored. */
export async function setReleased(db: Queryable, migrationId: string, released: Release): Promise<void> {
  await updateMigration(db, migrationId, { released });
}

/** Restricts claims to one window occurrence, or allows them at any time if `occurrence` is null. */
export async function setWindowOccurrence(
  db: Database,
  migrationId: string,
  occurrence: WindowOccurrence | null,
): Promise<void> {
  await updateMigration(db, migrationId, {
    window_opens_at: occurrence === null ? null : new Date(occurrence.opensAt),
    window_closes_at: occurrence === null ? null : new Date(occurrence.closesAt),
  });
}

/** Returns the current limits and the time of the database's clock, which claims use for windows and leases. */
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

/** Stops claims immediately and permanently. Imports in progress finish. */
export async function stopClaims(db: Database, migrationId: string): Promise<void> {
  await updateMigration(db, migrationId, { state: 'closed' });
}

/** Changes limits. Running slices apply them to their next group of companies. */
export async function changeLimits(db: Database, migrationId: string, limits: LimitsChange): Promise<void> {
  await sql`
    update migrations set limits = limits || ${JSON.stringify(limits)}::jsonb where id = ${migrationId}`.execute(db);
}

/** Returns the Temporal namespace of a migration; null if it is not recorded, or there is no such migration. */
export async function readNamespace(db: Database, migrationId: string): Promise<string | null> {
  const row = await db.selectFrom('migrations').select('namespace').where('id', '=', migrationId).executeTakeFirst();
  return row?.namespace ?? null;
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
  /** True if the migration is paused because of a problem, and not only by a decision. */
  readonly pausedItself: boolean;
  readonly manifestDigest: string;
  readonly suppliedBy: string;
  readonly suppliedAt: Date;
  /** Who can decide, and what a decision needs; null if an older version created the migration. */
  readonly rules: DecisionRules | null;
  readonly released: Release;
  /** The row of the company that was chosen to go first; null before the choice. */
  readonly firstRow: number | null;
  /** The reference of the company that was requested to go first; null if none was requested. */
  readonly requestedFirst: string | null;
  /** The only run that can claim companies; null before the first run. */
  readonly currentRun: string | null;
  readonly closedAt: Date | null;
  readonly vaultDestroyedAt: Date | null;
  /** The estimate at the time when the start was proposed; null if no start has been proposed. */
  readonly planned: PlannedEstimate | null;
}

/** Returns a migration; undefined if there is none with this id. */
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
      'paused_itself as pausedItself',
      'manifest_digest as manifestDigest',
      'supplied_by as suppliedBy',
      'supplied_at as suppliedAt',
      'decision_rules as rules',
      'released',
      'first_row as firstRow',
      'requested_first as requestedFirst',
      'current_run as currentRun',
      'closed_at as closedAt',
      'vault_destroyed_at as vaultDestroyedAt',
      'planned',
    ])
    .where('id', '=', migrationId)
    .executeTakeFirst();
}
