/**
 * Runs credentials through a vault on an embedded Postgres that analyzes and vacuums at bad moments, stops Postgres,
 * and then tries to open everything that its files, log and planner statistics have kept.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/deps';
import { closingActivities } from '../../activities/migration/closing';
import { terminationRecord } from '../../domain/decisions/audit-trail';
import { createVaultKeyWrapper, createVaultSecretFolder, parseMasterKeys, Secret } from '../../security';
import { createTemporaryFolder } from '../../stack/folders';
import { startPostgres } from '../../stack/postgres/postgres';
import {
  acceptStaged,
  claimCompanies,
  openDatabase,
  recordChecks,
  recordDecisions,
  recordImports,
  rotateVaults,
  stageCredentials,
  stopClaims,
  type Database,
  type SuppliedCredential,
} from '../../store';
import { createMovableMigration, manifestRows, OBTAINED_AT, type MovableMigration } from '../support/migrations/ledger';
import { filesBelow } from './leak-search';
import { attack, type Attack } from './raw-vault-search';

let folder: string;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROWS = 10;
const TOKEN = /"token-[0-9a-f]{40}"/;
const [OLD_KEY, NEW_KEY] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

/** Returns a new credential for the company. All credentials have the same length. */
const credentialOf = ({ reference }: { readonly reference: string }): SuppliedCredential => ({
  reference,
  fields: new Secret({ accessToken: `token-${randomBytes(20).toString('hex')}` }),
  obtainedAt: OBTAINED_AT,
});

test('leaves nothing that can be opened with the master key and everything else in the home folder', async () => {
  const secretsBefore = new Map<string, Buffer>();
  const migrationIds = await runMigrations((secret, content) => secretsBefore.set(secret, content));
  const files = filesBelow(folder);
  const options: Attack = {
    files: files.filter((file) => file.startsWith(path.join(folder, 'postgres'))),
    masterKeys: [NEW_KEY, OLD_KEY].join('\n'),
    secrets: files.filter((file) => !file.startsWith(path.join(folder, 'postgres'))).map((file) => readFileSync(file)),
    migrationIds,
    references: manifestRows(ROWS).map(({ reference }) => reference),
    obtainedAt: new Date(OBTAINED_AT).toISOString(),
    credentialBytes: `{"accessToken":"token-${'0'.repeat(40)}"}`.length,
  };

  // With the erased secrets, the search opens credentials. This proves that the files still contain the sealed
  // credentials.
  const withErasedSecrets = attack({ ...options, secrets: [...secretsBefore.values()] });
  expect(withErasedSecrets.opened.length).toBeGreaterThan(ROWS);
  for (const text of withErasedSecrets.opened) expect(text).toMatch(TOKEN);

  const { unwrapped, boxes, opened } = attack(options);
  expect(unwrapped).toBeGreaterThan(1);
  expect(boxes).toBeGreaterThan(ROWS);
  expect(opened.length).toBe(0);
}, 180_000);

/**
 * Moves the companies of one migration, cancels another, and stops Postgres.
 *
 * @param saveSecret receives each vault secret while it exists
 * @returns the ids of the migrations
 */
async function runMigrations(saveSecret: (name: string, content: Buffer) => void): Promise<readonly string[]> {
  const secrets = path.join(folder, 'vault-secrets');
  mkdirSync(secrets);
  writeFileSync(path.join(folder, 'master.key'), `${NEW_KEY}\n${OLD_KEY}\n`);
  const providerWith = (...keys: string[]) =>
    createVaultKeyWrapper(parseMasterKeys(new Secret(keys.join('\n'))), createVaultSecretFolder(secrets));
  const saveSecrets = (): void => {
    for (const file of filesBelow(secrets)) saveSecret(file, readFileSync(file));
  };
  const server = { dataFolder: path.join(folder, 'postgres'), ephemeral: false, port: 0, log: () => undefined };
  const postgres = await startPostgres(server);
  const db = await openDatabase({ url: postgres.url, createLedger: true });
  /** Does the work that autovacuum and the checkpointer would do at some time. */
  const maintain = async (): Promise<void> => {
    await sql`analyze`.execute(db);
    await sql`checkpoint`.execute(db);
    await sql`vacuum`.execute(db);
    await sql`analyze`.execute(db);
  };

  const keys = providerWith(OLD_KEY);
  const create = () => createMovableMigration({ db, keys }, manifestRows(ROWS), {}, credentialOf);
  const [moved, cancelled] = [await create(), await create()];
  await maintain();
  const staged = { decisionId: 'supply', replaces: false };
  for (const { id, rows } of [moved, cancelled]) await stageCredentials(db, id, rows.map(credentialOf), 'Cleo', staged);
  await maintain();
  for (const { id } of [moved, cancelled]) await acceptStaged(db, id, staged);
  await maintain();
  saveSecrets();
  await rotateVaults(db, providerWith(NEW_KEY, OLD_KEY));
  saveSecrets();
  await maintain();
  await moveAll(db, moved, maintain);
  await stopClaims(db, cancelled.id);
  await maintain();

  const newKeys = providerWith(NEW_KEY, OLD_KEY);
  const activities = closingActivities({ db, keys: newKeys } as ActivityDeps);
  for (const { id } of [moved, cancelled]) {
    await recordDecisions(db, id, [{ ...terminationRecord('ended', null, OBTAINED_AT), verified: true }]);
    await activities.closeMigration({ migrationId: id });
    await sql`analyze`.execute(db);
  }
  expect(filesBelow(secrets).map((file) => path.basename(file))).toEqual(['folder.id']);
  await maintain();
  const { rows: samples } = await sql`
    select from pg_stats where schemaname = 'tokenferry' and attname in ('sealed', 'vault_wrapped_key')`.execute(db);
  expect(samples).toEqual([]);
  await db.destroy();
  await postgres.stop();
  return [moved.id, cancelled.id];
}

/** Claims, imports and verifies all companies of a migration, in two halves. */
async function moveAll(db: Database, { id, owner }: MovableMigration, between: () => Promise<void>): Promise<void> {
  for (const half of [ROWS / 2, ROWS / 2]) {
    const claimed = await claimCompanies(db, owner, half, null);
    expect(claimed).toHaveLength(half);
    const syncing = { to: 'syncing' as const, refs: {}, firstCheckInMs: 0 };
    await recordImports(
      db,
      owner,
      claimed.map(({ row }) => ({ row, ...syncing })),
    );
    await between();
    const verified = { to: 'moved' as const, evidence: [], schedule: { everyHours: null, nextAt: null } };
    await recordChecks(
      db,
      id,
      claimed.map(({ row }) => ({ row, ...verified })),
    );
  }
}
