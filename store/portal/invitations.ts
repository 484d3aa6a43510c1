/** Invitations to the portal. Each invitation is for one person, with one role, to one migration. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createPortalToken, fingerprintOf, hashPortalToken } from '../../security';
import { allRows, type Database } from '../database/database';

/** `client` may decide and supply; `viewer` may only read. */
export type PortalRole = 'client' | 'viewer';

export interface NewInvitation {
  readonly migrationId: string;
  readonly person: string;
  readonly role: PortalRole;
  readonly email: string | null;
  /** The identity provider at which the person signs in with the email address; null: with the link. */
  readonly issuer: string | null;
  /**
   * The id of the person's account at the identity provider. Null until the first sign-in sets it, unless support has
   * specified it. Always null if the person signs in with the invitation's link.
   */
  readonly subject: string | null;
  readonly createdBy: string;
  /** The person must use the invitation for the first time before this time. */
  readonly expiresAt: Date;
}

export interface Invitation extends NewInvitation {
  readonly id: string;
  readonly createdAt: Date;
  /** When the person signed in for the first time; null if they have not. */
  readonly redeemedAt: Date | null;
  /** The registered public key: 64 hexadecimal digits. Null for viewers, and before the invitation is used. */
  readonly publicKey: string | null;
  /** When support confirmed the fingerprint of the public key; null if it has not. */
  readonly keyConfirmedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  /** Number of sessions that can be used now. */
  readonly sessions: number;
  /**
   * When a stored session of the invitation was last used, accurate to a minute; null if there is none. Sessions are
   * deleted a day after they end.
   */
  readonly lastUsedAt: Date | null;
}

/**
 * Stores an invitation whose link signs the invited person in.
 *
 * @returns the invitation's id, and the token for the link; the token is not stored and cannot be shown again
 */
export async function createInvitation(
  db: Database,
  invitation: Omit<NewInvitation, 'issuer' | 'subject'>,
): Promise<{ readonly id: string; readonly token: string }> {
  const token = createPortalToken();
  const id = await insertInvitation(db, { ...invitation, issuer: null, subject: null }, hashPortalToken(token));
  return { id, token };
}

/**
 * Stores an invitation for a person who signs in at an identity provider with the invitation's email address.
 *
 * @returns the invitation's id
 */
export async function createIdentityInvitation(
  db: Database,
  invitation: NewInvitation & { readonly issuer: string; readonly email: string },
): Promise<string> {
  return insertInvitation(db, invitation, null);
}

async function insertInvitation(
  db: Database,
  { migrationId, person, role, email, issuer, subject, createdBy, expiresAt }: NewInvitation,
  tokenHash: Buffer | null,
): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('portal_invitations')
    .values({
      ...{ id, migration_id: migrationId, person, role, email, issuer, subject, token_hash: tokenHash },
      ...{ created_by: createdBy, expires_at: expiresAt },
    })
    .execute();
  return id;
}

/** Lists the invitations to a migration, or to all migrations if `migrationId` is null, latest first. */
export async function listInvitations(db: Database, migrationId: string | null): Promise<readonly Invitation[]> {
  return allRows<Invitation>(db)`
    select i.id, i.migration_id as "migrationId", i.person, i.role, i.email, i.issuer, i.subject, i.created_by as "createdBy",
      i.created_at as "createdAt", i.expires_at as "expiresAt", i.redeemed_at as "redeemedAt",
      i.public_key as "publicKey", i.key_confirmed_at as "keyConfirmedAt", i.revoked_at as "revokedAt",
      i.revoked_by as "revokedBy",
      (select count(*) from live_portal_sessions l where l.invitation_id = i.id) as sessions,
      (select max(s.last_used_at) from portal_sessions s where s.invitation_id = i.id) as "lastUsedAt"
    from portal_invitations i
    where ${migrationId}::text is null or i.migration_id = ${migrationId}
    order by i.created_at desc, i.id`;
}

/** A person whose key support has to confirm before the person can decide. */
export type UnconfirmedKey = Pick<Invitation, 'migrationId' | 'person'>;

/** Lists the keys of one migration, or of all migrations if `migrationId` is null, that support has to confirm. */
export async function listUnconfirmedKeys(
  db: Database,
  migrationId: string | null,
): Promise<readonly UnconfirmedKey[]> {
  return allRows<UnconfirmedKey>(db)`
    select migration_id as "migrationId", person from portal_invitations
    where public_key is not null and key_confirmed_at is null and revoked_at is null
      and (${migrationId}::text is null or migration_id = ${migrationId})
    order by created_at desc, id`;
}

/**
 * Returns the latest invitation to the migration that was not revoked and whose registered public key has this
 * fingerprint (see `fingerprintOf`); undefined if there is none. Ignores case, spaces and hyphens.
 */
export async function findInvitationByFingerprint(
  db: Database,
  migrationId: string,
  fingerprint: string,
): Promise<Invitation | undefined> {
  const wanted = digitsOf(fingerprint);
  return (await listInvitations(db, migrationId)).find(
    ({ publicKey, revokedAt }) =>
      publicKey !== null && revokedAt === null && digitsOf(fingerprintOf(Buffer.from(publicKey, 'hex'))) === wanted,
  );
}

function digitsOf(fingerprint: string): string {
  return fingerprint.toLowerCase().replace(/[\s-]/g, '');
}

/**
 * Records that support has confirmed the public key of an invitation.
 *
 * @returns false if the invitation has no public key or was revoked
 */
export async function markKeyConfirmed(db: Database, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('portal_invitations')
    .set({ key_confirmed_at: sql<Date>`coalesce(key_confirmed_at, clock_timestamp())` })
    .where('id', '=', id)
    .where('public_key', 'is not', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Revokes an invitation: its link and its sessions stop working at once, and its open requests are deleted.
 *
 * @returns false if there is no such invitation, or if it was revoked before
 */
export async function revokeInvitation(db: Database, id: string, by: string): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('portal_invitations')
      .set({ revoked_at: sql<Date>`clock_timestamp()`, revoked_by: by })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await tx
      .updateTable('portal_sessions')
      .set({ ended_at: sql<Date>`clock_timestamp()` })
      .where('invitation_id', '=', id)
      .where('ended_at', 'is', null)
      .execute();
    await tx.deleteFrom('portal_requests').where('invitation_id', '=', id).where('answered_at', 'is', null).execute();
    return true;
  });
}
