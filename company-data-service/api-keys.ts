/** API keys of client accounts. They are not part of the HTTP API, because the operator of the service manages them. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { withDatabase, type Database } from './database/database';
import type { Plan, Role } from './database/tables';
import { sha256 } from './digests';

export interface CreatedKey {
  readonly id: string;
  /** The key itself. It cannot be shown again, because only its digest is stored. */
  readonly key: string;
}

export interface ApiKey {
  readonly id: string;
  readonly account: string;
  readonly plan: Plan;
  readonly role: Role;
  /** `outdated`: the key has been revoked. */
  readonly state: 'active' | 'outdated';
  readonly createdAt: Date;
}

/** Creates an API key for an account. An `administrator` key is for the provider's solutions team. */
export async function createKey(
  databaseUrl: string,
  { accountId, role }: { accountId: string; role: Role },
): Promise<CreatedKey> {
  return withDatabase(databaseUrl, (db) => insertKey(db, accountId, role));
}

/** Returns every key with its account, oldest first. The keys themselves are not stored. */
export async function listKeys(databaseUrl: string): Promise<ApiKey[]> {
  return withDatabase(databaseUrl, (db) =>
    db
      .selectFrom('api_keys')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select(['api_keys.id', 'accounts.name as account', 'plan', 'role', 'state', 'api_keys.created_at as createdAt'])
      .orderBy('api_keys.created_at')
      .orderBy('api_keys.id')
      .execute(),
  );
}

/**
 * Revokes a key. Within seconds, running services refuse requests with this key (403).
 *
 * @returns whether the key exists
 */
export async function revokeKey(databaseUrl: string, keyId: string): Promise<boolean> {
  return withDatabase(databaseUrl, async (db) => (await revoke(db, keyId)) !== undefined);
}

/**
 * Creates a key for the same account and role, and revokes the old key.
 *
 * @returns the new key; undefined if the old key does not exist
 */
export async function rotateKey(databaseUrl: string, keyId: string): Promise<CreatedKey | undefined> {
  return withDatabase(databaseUrl, (db) =>
    db.transaction().execute(async (transaction) => {
      const old = await revoke(transaction, keyId);
      return old && insertKey(transaction, old.account_id, old.role);
    }),
  );
}

async function insertKey(db: Database, accountId: string, role: Role): Promise<CreatedKey> {
  const key = randomBytes(32).toString('base64url');
  const { id } = await db
    .insertInto('api_keys')
    .values({ account_id: accountId, role, digest: sha256(key) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, key };
}

async function revoke(db: Database, keyId: string): Promise<{ account_id: string; role: Role } | undefined> {
  return db
    .updateTable('api_keys')
    .set({ state: 'outdated' })
    .where(sql`id::text`, '=', keyId.toLowerCase())
    .returning(['account_id', 'role'])
    .executeTakeFirst();
}
