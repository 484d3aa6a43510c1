/** Invitations to the portal. Each is a link for one person, with one role, to one migration. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createPortalToken, fingerprintOf, hashPortalToken } from '../../security';
import type { Database } from '../database/database';

/** `client` may decide and supply; `viewer` may only read. */
export type PortalRole = 'client' | 'viewer';

export interface NewInvitation {
  readonly migrationId: string;
  readonly person: string;
  readonly role: PortalRole;
  readonly email: string | null;
  readonly createdBy: string;
  /** When the link stops working. */
  readonly expiresAt: Date;
}

export interface Invitation extends NewInvitation {
  readonly id: string;
  readonly createdAt: Date;
  /** When the person used the link; null if it has not been used. */
  readonly redeemedAt: Date | null;
  /** 64 hexadecimal digits; null for viewers, and before the link is used. */
  readonly publicKey: string | null;
  /** When support confirmed the fingerprint of the public key; null if it has not. */
  readonly keyConfirmedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  /** Number of sessions that can be used now. */
  readonly sessions: number;
  /** When a session of the invitation was last used, to the minute; null if it never had one. */
  readonly lastUsedAt: Date | null;
}

/**
 * Stores an invitation.
 *
 * @returns its id, and the token for the link, which is not stored and cannot be shown again
 */
export async function createInvitation(
  db: Database,
  { migrationId, person, role, email, createdBy, expiresAt }: NewInvitation,
): Promise<{ readonly id: string; readonly token: string }> {
  const id = randomUUID();
  const token = createPortalToken();
  await db
    .insertInto('portal_invitations')
    .values({
      ...{ id, migration_id: migrationId, person, role, email, token_hash: hashPortalToken(token) },
      ...{ created_by: createdBy, expires_at: expiresAt },
    })
    .execute();
  return { id, token };
}

/** Lists the invitations to a migration, or to all migrations if it is null; the latest first. */
export async function listInvitations(db: Database, migrationId: string | null): Promise<readonly Invitation[]> {
  const { rows } = await sql<Invitation>`
    select i.id, i.migration_id as "migrationId", i.person, i.role, i.email, i.created_by as "createdBy",
      i.created_at as "createdAt", i.expires_at as "expiresAt", i.redeemed_at as "redeemedAt",
      i.public_key as "publicKey", i.key_confirmed_at as "keyConfirmedAt", i.revoked_at as "revokedAt",
      i.revoked_by as "revokedBy",
      (select count(*) from live_portal_sessions l where l.invitation_id = i.id) as sessions,
      (select max(s.last_used_at) from portal_sessions s where s.invitation_id = i.id) as "lastUsedAt"
    from portal_invitations i
    where ${migrationId}::text is null or i.migration_id = ${migrationId}
    order by i.created_at desc, i.id`.execute(db);
  return rows;
}

/**
 * Returns the latest invitation to the migration whose registered public key has this fingerprint (see
 * `fingerprintOf`); undefined if there is none or it was revoked. Upper case, spaces and hyphens do not matter.
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
