import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { sql, type UpdateObject } from 'kysely';
import type { Release } from '../../../domain/decisions/release';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import {
  createVaultKeyWrapper,
  createVaultSecretFolder,
  parseMasterKeys,
  Secret,
  type VaultKeyWrapper,
} from '../../../security';
import {
  acceptStaged,
  beginRun,
  beginSlice,
  chooseFirstCompany,
  confirmDisabled,
  openDatabase,
  openMigration,
  openVault,
  recordSendIntents,
  stageCredentials,
  supplyCredentials,
  supplyMigration,
  type LeaseOwner,
  type Database,
  type SuppliedCredential,
  type SuppliedMigration,
  type SupplyResult,
} from '../../../store';
import type { Tables } from '../../../store/database/tables';
import { createTemporaryFolder } from '../../../stack/folders';
import { until, useOpened } from '../async';
import { createTestDatabase } from '../servers/database';

/** An empty ledger for one test file. */
export interface Ledger {
  readonly db: Database;
  readonly url: string;
  readonly keys: VaultKeyWrapper;
  /** The folder of vault secrets. */
  readonly secrets: string;
  close(): Promise<void>;
}

export async function openLedger(): Promise<Ledger> {
  const database = await createTestDatabase('ledger');
  const db = await openDatabase({ url: database.url, connections: 20 });
  const secrets = createTemporaryFolder();
  return {
    db,
    url: database.url,
    secrets,
    keys: createVaultKeyWrapper(
      parseMasterKeys(new Secret(randomBytes(32).toString('base64'))),
      createVaultSecretFolder(secrets),
    ),
    close: async () => {
      await db.destroy();
      await database.drop();
      rmSync(secrets, { recursive: true });
    },
  };
}

/** Opens an empty ledger for the tests of a file. */
export function useLedger(): Omit<Ledger, 'close'> {
  return useOpened(openLedger);
}

/** The time of the confirmation that syncing is disabled. */
export const CONFIRMED_AT = '2026-03-02T09:00:00.000Z';
/**
 * The time when the credentials were obtained: after the confirmation, as the managed route requires on a platform that
 * rotates refresh tokens.
 */
export const OBTAINED_AT = '2026-03-02T10:00:00.000Z';

/** The lease of a claimed company, in milliseconds. */
export const LEASE_MS = 60_000;

let migrations = 0;

/** Returns the details of a new migration, with a different id each time. */
export function suppliedMigration(changes: Partial<SuppliedMigration> = {}): SuppliedMigration {
  migrations += 1;
  return {
    id: `client-${migrations}.quickbooks-online`,
    client: `client-${migrations}`,
    platformKey: 'qhyg',
    contact: 'solutions team',
    route: 'managed',
    rotating: true,
    limits: DEFAULT_LIMITS,
    manifestDigest: 'digest',
    suppliedBy: 'Cleo',
    decisions: DEFAULT_DECISION_RULES,
    firstCompany: null,
    ...changes,
  };
}

/** Returns manifest rows whose organizations no other migration has, unless `changes` sets them. */
export function manifestRows(
  count: number,
  changes: (row: number) => Partial<ManifestRow> = () => ({}),
  organizationPrefix = randomBytes(4).toString('hex'),
): readonly ManifestRow[] {
  return Array.from({ length: count }, (_, index) => ({
    row: index + 1,
    reference: `c${index + 1}`,
    name: `Company ${index + 1}`,
    organization: `${organizationPrefix}-${index + 1}`,
    expectedInvoices: 10,
    wave: null,
    family: null,
    ...changes(index + 1),
  }));
}

export const credentialOf = (
  { reference, row, organization }: Pick<ManifestRow, 'reference' | 'row' | 'organization'>,
  changes: { readonly token?: string; readonly obtainedAt?: string; readonly more?: Record<string, string> } = {},
): SuppliedCredential => ({
  reference,
  fields: new Secret({
    accessToken: `access-${row}`,
    refreshToken: changes.token ?? `sbx-ok-10.${organization}`,
    realmId: organization,
    ...changes.more,
  }),
  obtainedAt: changes.obtainedAt ?? OBTAINED_AT,
});

export interface MovableMigration {
  readonly id: string;
  readonly rows: readonly ManifestRow[];
  readonly owner: LeaseOwner;
}

/** Releases companies directly, without recording decisions. */
export async function release(db: Database, id: string, released: Release): Promise<void> {
  await db.updateTable('migrations').set({ released }).where('id', '=', id).execute();
}

/** Releases only the first company, and chooses it: the requested one, or the first one that can be moved. */
export async function chooseFirst(db: Database, id: string, requested: string | null, run = 'run-1') {
  const first = { released: 'first-company', requested_first: requested, first_row: null } as const;
  await db.updateTable('migrations').set(first).where('id', '=', id).execute();
  return chooseFirstCompany(db, id, run);
}

/** Creates a migration whose companies can be claimed: open, confirmed, with credentials, and with a slice begun. */
export async function createMovableMigration(
  { db, keys }: Pick<Ledger, 'db' | 'keys'>,
  rows: readonly ManifestRow[],
  changes: Partial<SuppliedMigration> = {},
  credentialFor: (row: ManifestRow) => SuppliedCredential = (row) => credentialOf(row),
): Promise<MovableMigration> {
  const migration = suppliedMigration(changes);
  const { id } = migration;
  await supplyMigration(db, migration, rows);
  await openMigration(db, id);
  await openVault(db, keys, id);
  await confirmDisabled(db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
  await supplyCredentials(db, id, rows.map(credentialFor), 'Cleo');
  await release(db, id, 'all');
  await beginRun(db, id, 'run-1');
  return {
    id,
    rows,
    owner: await beginSlice(db, { migrationId: id, run: 'run-1', slice: 1, leaseMs: LEASE_MS }),
  };
}

/** Sets columns of a company's row directly. */
export async function updateRow(
  db: Database,
  id: string,
  row: number,
  columns: UpdateObject<Tables, 'companies'>,
): Promise<void> {
  await db.updateTable('companies').set(columns).where('migration_id', '=', id).where('row', '=', row).execute();
}

export async function readRow(db: Database, id: string, row: number) {
  return db
    .selectFrom('companies')
    .selectAll()
    .where('migration_id', '=', id)
    .where('row', '=', row)
    .executeTakeFirstOrThrow();
}

/** Records a send intent for each of `rows` that `owner` owns, with different connections. Returns these rows. */
export function sendIntents(db: Database, owner: LeaseOwner, rows: readonly number[]): Promise<ReadonlySet<number>> {
  return recordSendIntents(
    db,
    owner,
    rows.map((row) => ({ row, connectionId: randomUUID() })),
  );
}

/** Returns an SQL expression for a time relative to now, by the database's clock. */
export const msFromNow = (ms: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

/** Returns the numbers of the rows that have a credential. */
export async function rowsWithCredential(db: Database, id: string): Promise<readonly number[]> {
  const rows = await db.selectFrom('credentials').select('row').where('migration_id', '=', id).orderBy('row').execute();
  return rows.map(({ row }) => row);
}

/** Waits until this many statements are waiting for a lock of another transaction. */
export async function untilBlocked(db: Database, statements = 1): Promise<void> {
  await until(async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows[0]?.count === statements;
  });
}

/** Stages new credentials of companies that were not moved, and makes them count, as an applied decision does. */
export async function replaceCredentials(
  db: Database,
  migrationId: string,
  credentials: readonly SuppliedCredential[],
  by: string,
): Promise<SupplyResult> {
  const staged = { decisionId: randomUUID(), replaces: true };
  const supplied = await stageCredentials(db, migrationId, credentials, by, staged);
  await acceptStaged(db, migrationId, staged);
  return supplied;
}
