/** Administration of client accounts and their API keys. Not part of the HTTP API: whoever runs the service calls it. */
import { createHash, randomBytes } from 'node:crypto';
import { openDatabase, prepareSchema, type Database } from './database/database';
import type { Plan, Role } from './database/tables';

export interface NewAccount {
  readonly name: string;
  /** `trial`: 50 companies, no hourly syncs. `trial` and `free` expire 365 days after `createdAt`. */
  readonly plan: Plan;
  /** Default: now. */
  readonly createdAt?: Date;
}

/** Creates a client account and answers its id. */
export async function createAccount(databaseUrl: string, { name, plan, createdAt }: NewAccount): Promise<string> {
  return withDatabase(databaseUrl, async (db) => {
    const { id } = await db
      .insertInto('accounts')
      .values({ name, plan, ...(createdAt && { created_at: createdAt }) })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  });
}

export interface CreatedKey {
  readonly id: string;
  /** The key itself. It is shown here once: only its digest is stored. */
  readonly key: string;
}

/** Creates an API key of an account. An `administrator` key may do what the provider's solutions team does. */
export async function createKey(
  databaseUrl: string,
  { accountId, role }: { accountId: string; role: Role },
): Promise<CreatedKey> {
  const key = randomBytes(32).toString('base64url');
  return withDatabase(databaseUrl, async (db) => {
    const { id } = await db
      .insertInto('api_keys')
      .values({ account_id: accountId, role, digest: keyDigest(key) })
      .returning('id')
      .executeTakeFirstOrThrow();
    return { id, key };
  });
}

/** Makes a key outdated: from now on (running services notice within seconds) it is answered 403. */
export async function retireKey(databaseUrl: string, keyId: string): Promise<void> {
  await withDatabase(databaseUrl, (db) =>
    db.updateTable('api_keys').set({ state: 'outdated' }).where('id', '=', keyId).execute(),
  );
}

/** What is stored of a key. */
export function keyDigest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

async function withDatabase<Result>(databaseUrl: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = openDatabase(databaseUrl, 1);
  try {
    await prepareSchema(db);
    return await work(db);
  } finally {
    await db.destroy();
  }
}
