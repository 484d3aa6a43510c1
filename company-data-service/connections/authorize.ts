/**
 * Authorizes a connection, with credentials that the client's own application has obtained, or that result from the end
 * customer's consent.
 */
import { sql } from 'kysely';
import { isRotating, type Platform as PlatformEntry } from '../../platforms/platforms';
import { applicationIn } from '../credentials/grants';
import { credentialBinding, type SecretCipher } from '../credentials/secret-cipher';
import type { Database } from '../database/database';
import type { ConnectionError } from '../database/tables';
import { sha256 } from '../digests';
import { PlatformRefusal, type Grant, type Organization, type Platforms } from '../platform/platform';
import { lockConnection, resolveAll, withError } from './connections';
import { beginExchange, endExchanges } from './token-exchanges';

type Credential = Readonly<Record<string, string>>;

export interface AuthorizationDependencies {
  /** For queries that do not wait for a platform. */
  readonly db: Database;
  /**
   * For transactions that wait for a platform, or for a lock held by such a transaction. A separate pool, so that slow
   * platforms do not delay reads, and so that these transactions cannot take all connections of `db`: an authorization
   * or a sync also needs a connection of `db` to finish.
   */
  readonly waitingDb: Database;
  readonly platforms: Platforms;
  readonly cipher: SecretCipher;
}

export interface AuthorizationRequest {
  readonly connectionId: string;
  readonly accountId: string;
  readonly platform: PlatformEntry;
  /** Must have been validated against the platform's fields. */
  readonly credential: Credential;
}

/**
 * Authorizes a connection with a credential. Links the connection if the platform accepts the credential, otherwise
 * records the error. Authorizations of one connection run one at a time. The last accepted credential is not used
 * again, because a caller whose response was lost might send a rotating token twice, and the second use would fail. If
 * the service is killed after the platform has issued new tokens and before they are stored, the next authorization
 * with the same credential continues the exchange: see token-exchanges.ts.
 *
 * @returns whether the platform accepted the credential
 * @throws PlatformInaccessible if the platform does not allow the service to call its endpoint; the connection does not
 * change in this case
 */
export async function authorizeConnection(
  { db, waitingDb, platforms, cipher }: AuthorizationDependencies,
  { connectionId, accountId, platform, credential }: AuthorizationRequest,
): Promise<boolean> {
  return waitingDb.transaction().execute(async (transaction) => {
    await lockConnection(transaction, connectionId);
    const connection = await readConnection(transaction, connectionId);
    const digest = digestOf(credential);
    if (connection?.accepted_digest?.equals(digest)) return true;
    const errors = connection?.errors ?? [];

    const application = await readApplication(transaction, cipher, { accountId, platformKey: platform.key });
    try {
      const grant: Grant = { platform, credential, ...(application && { application }) };
      const begin = () => beginExchange(db, { connectionId, bodyDigest: digest });
      const accepted = await checkAndRefresh(platforms, grant, begin);
      const fields = cipher.encrypt(JSON.stringify(accepted.credential), credentialBinding(connectionId));
      await storeCredential(transaction, connectionId, { encrypted_fields: fields, accepted_digest: digest });
      await endExchanges(transaction, connectionId);
      await link(transaction, connectionId, accepted.organization, errors);
      return true;
    } catch (refusal) {
      if (!(refusal instanceof PlatformRefusal)) throw refusal;
      // The status does not change, because a refused credential never replaces an accepted one.
      const expected_organization = credential[platform.organizationField] ?? null;
      const refused = { errors: JSON.stringify(withError(errors, refusal)), expected_organization };
      await transaction.updateTable('connections').set(refused).where('id', '=', connectionId).execute();
      return false;
    }
  });
}

/**
 * Checks the organization of a credential and, if it contains a refresh token, refreshes its tokens. The check comes
 * first, because it does not use up a token, but a refresh can.
 */
async function checkAndRefresh(
  platforms: Platforms,
  grant: Grant,
  begin: () => Promise<string>,
): Promise<{ credential: Credential; organization: Organization }> {
  const organization = await platforms.identify(grant);
  const expected = grant.credential[grant.platform.organizationField];
  if (expected !== undefined && expected !== organization.id) {
    throw new PlatformRefusal('WrongOrganization', 'The access token belongs to another organization.');
  }
  if (grant.credential['refreshToken'] === undefined) return { credential: grant.credential, organization };
  const pair = await platforms.refresh(grant, isRotating(grant.platform) ? await begin() : undefined);
  return { credential: { ...grant.credential, ...pair }, organization };
}

function readConnection(transaction: Database, id: string) {
  return transaction
    .selectFrom('connections')
    .leftJoin('credentials', 'connection_id', 'id')
    .select(['errors', 'accepted_digest'])
    .where('id', '=', id)
    .executeTakeFirst();
}

async function readApplication(
  db: Database,
  cipher: SecretCipher,
  { accountId, platformKey }: { accountId: string; platformKey: string },
): Promise<Grant['application']> {
  const row = await db
    .selectFrom('applications')
    .select(['account_id', 'platform_key', 'client_id', 'encrypted_secret', 'environment'])
    .where('account_id', '=', accountId)
    .where('platform_key', '=', platformKey)
    .executeTakeFirst();
  return row && applicationIn(row, cipher);
}

async function storeCredential(
  transaction: Database,
  connectionId: string,
  row: { encrypted_fields: Buffer; accepted_digest: Buffer },
) {
  await transaction
    .insertInto('credentials')
    .values({ connection_id: connectionId, ...row })
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet(row))
    .execute();
}

async function link(
  transaction: Database,
  connectionId: string,
  { id, name, dataTypes }: Organization,
  errors: readonly ConnectionError[],
) {
  await transaction
    .updateTable('connections')
    .set({
      status: 'Linked',
      authorized_at: sql<Date>`clock_timestamp()`,
      organization_id: id,
      organization_name: name,
      data_types: [...dataTypes],
      errors: JSON.stringify(resolveAll(errors)),
    })
    .where('id', '=', connectionId)
    .execute();
}

function digestOf(credential: Credential): Buffer {
  return sha256(JSON.stringify(Object.entries(credential).sort(([a], [b]) => (a < b ? -1 : 1))));
}
