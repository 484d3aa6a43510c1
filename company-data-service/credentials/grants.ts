/** Reads the grants of connections, and decrypts their secrets. */
import { sql } from 'kysely';
import { platformOf } from '../connections/connections';
import type { Grant } from '../platform/platform';
import { applicationBinding, credentialBinding, type SecretCipher } from './secret-cipher';

/** The columns of a row that `grantIn` reads. */
export interface GrantRow {
  readonly connection_id: string;
  readonly account_id: string;
  readonly platform_key: string;
  /** Null if the connection has no credential. */
  readonly encrypted_fields: Buffer | null;
  readonly client_id: string | null;
  readonly encrypted_secret: Buffer | null;
  readonly environment: 'production' | 'sandbox' | null;
}

/** The columns of {@link GrantRow}, from `connections`, `companies` and {@link GRANT_TABLES}. */
export const GRANT_COLUMNS = sql`
  connections.id as connection_id, companies.account_id, connections.platform_key, credentials.encrypted_fields,
  applications.client_id, applications.encrypted_secret, applications.environment`;

/** Joins the tables of a grant to `connections` and `companies`. */
export const GRANT_TABLES = sql`
  left join credentials on credentials.connection_id = connections.id
  left join applications
    on applications.account_id = companies.account_id and applications.platform_key = connections.platform_key`;

/** Returns the grant of a row; undefined if the connection has no credential. */
export function grantIn(row: GrantRow, cipher: SecretCipher): Grant | undefined {
  if (!row.encrypted_fields) return undefined;
  const fields = cipher.decrypt(row.encrypted_fields, credentialBinding(row.connection_id));
  const application = applicationIn(row, cipher);
  const credential = JSON.parse(fields) as Grant['credential'];
  return { platform: platformOf(row), credential, ...(application && { application }) };
}

/** Returns the application of a row; undefined if the client has not registered one. */
export function applicationIn(
  row: Omit<GrantRow, 'connection_id' | 'encrypted_fields'>,
  cipher: SecretCipher,
): Grant['application'] {
  const { account_id, platform_key, client_id: clientId, encrypted_secret, environment } = row;
  if (clientId === null || encrypted_secret === null || environment === null) return undefined;
  const clientSecret = cipher.decrypt(encrypted_secret, applicationBinding(account_id, platform_key));
  return { clientId, clientSecret, environment };
}
