import { sql } from 'kysely';
import type { Database } from '../database/database';
import { applicationBinding, credentialBinding, type SecretCipher } from './secret-cipher';

const ROWS_AT_ONCE = 500;

/** A row that contains a secret. `plain` is null if the secret is encrypted. */
interface CredentialRow {
  readonly id: string;
  readonly plain: string | null;
  readonly encrypted: Buffer;
}

interface ApplicationRow {
  readonly account: string;
  readonly platform: string;
  readonly plain: string | null;
  readonly encrypted: Buffer;
}

/**
 * Encrypts secrets that are stored as plain text, and re-encrypts, with the newest key, secrets that are encrypted
 * under an older key. Several processes can do this at the same time. Copies in backups and in the write-ahead log do
 * not change.
 *
 * @throws Error if a secret is encrypted under a key that the cipher does not have
 */
export async function encryptStoredSecrets(db: Database, cipher: SecretCipher): Promise<void> {
  await encryptPlainRows(db, cipher);
  while ((await encryptOldCredentials(db, cipher)) === ROWS_AT_ONCE);
  while ((await encryptOldApplications(db, cipher)) === ROWS_AT_ONCE);
}

/** Encrypts rows from before schema migration 007. Locks both tables, but only if a row is still plain text. */
async function encryptPlainRows(db: Database, cipher: SecretCipher): Promise<void> {
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from credentials where plain_fields is not null)
      or exists (select from applications where plain_secret is not null) as any`.execute(db);
  if (!rows[0]?.any) return;
  await db.transaction().execute(async (transaction) => {
    await sql`lock table credentials, applications in access exclusive mode`.execute(transaction);
    const credentials = await sql<CredentialRow>`
      select connection_id as id, plain_fields::text as plain, encrypted_fields as encrypted
      from credentials where plain_fields is not null`.execute(transaction);
    for (const row of credentials.rows) await storeCredential(transaction, cipher, row);
    const applications = await sql<ApplicationRow>`
      select account_id as account, platform_key as platform, plain_secret as plain, encrypted_secret as encrypted
      from applications where plain_secret is not null`.execute(transaction);
    for (const row of applications.rows) await storeApplication(transaction, cipher, row);
    // Although the types stay the same, these statements make Postgres write both tables to new files and delete the
    // statistics of the columns. Otherwise the plain text of the changed rows would stay in the files until Postgres
    // reuses their space.
    await sql`alter table credentials alter column plain_fields type jsonb using null::jsonb`.execute(transaction);
    await sql`alter table applications alter column plain_secret type text using null::text`.execute(transaction);
  });
}

async function encryptOldCredentials(db: Database, cipher: SecretCipher): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<CredentialRow>`
      select connection_id as id, null as plain, encrypted_fields as encrypted from credentials
      where ${isUnderOlderKey('encrypted_fields', cipher)} limit ${ROWS_AT_ONCE} for update`.execute(transaction);
    for (const row of rows) await storeCredential(transaction, cipher, row);
    return rows.length;
  });
}

async function encryptOldApplications(db: Database, cipher: SecretCipher): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<ApplicationRow>`
      select account_id as account, platform_key as platform, null as plain, encrypted_secret as encrypted
      from applications
      where ${isUnderOlderKey('encrypted_secret', cipher)} limit ${ROWS_AT_ONCE} for update`.execute(transaction);
    for (const row of rows) await storeApplication(transaction, cipher, row);
    return rows.length;
  });
}

function isUnderOlderKey(column: string, { newestKeyId }: SecretCipher) {
  return sql`substring(${sql.ref(column)} for ${newestKeyId.length}::int) <> ${newestKeyId}`;
}

async function storeCredential(transaction: Database, cipher: SecretCipher, { id, plain, encrypted }: CredentialRow) {
  const boundTo = credentialBinding(id);
  const text = plain ?? cipher.decrypt(encrypted, boundTo);
  await transaction
    .updateTable('credentials')
    .set({ encrypted_fields: cipher.encrypt(text, boundTo) })
    .where('connection_id', '=', id)
    .execute();
}

async function storeApplication(transaction: Database, cipher: SecretCipher, row: ApplicationRow) {
  const boundTo = applicationBinding(row.account, row.platform);
  const text = row.plain ?? cipher.decrypt(row.encrypted, boundTo);
  await transaction
    .updateTable('applications')
    .set({ encrypted_secret: cipher.encrypt(text, boundTo) })
    .where('account_id', '=', row.account)
    .where('platform_key', '=', row.platform)
    .execute();
}
