/** Client accounts. The HTTP API can only read them, because the operator of the service manages them. */
import { withDatabase } from './database/database';
import type { Plan } from './database/tables';

export interface NewAccount {
  readonly name: string;
  /** `trial`: 50 companies, no hourly syncs. `trial` and `free` expire 365 days after `createdAt`. */
  readonly plan: Plan;
  /** Default: now. */
  readonly createdAt?: Date;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
}

/** Creates a client account and returns its id. */
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

/** Returns all accounts, oldest first. Names need not be unique. */
export async function listAccounts(databaseUrl: string): Promise<Account[]> {
  return withDatabase(databaseUrl, (db) =>
    db.selectFrom('accounts').select(['id', 'name', 'plan']).orderBy('created_at').orderBy('id').execute(),
  );
}
