/**
 * Requests to sign in to the portal without an invitation's link. Workers take a request, check its proof, and create
 * the session or refuse it. Workers no longer take a request that is older than two minutes, so it can stay without an
 * answer.
 */
import { sql } from 'kysely';
import { allRows, type Database, type Queryable } from '../database/database';
import type { TakeOptions } from './requests';

export interface SignInRequest {
  /** SHA-256 of the token of the requested session. */
  readonly sessionHash: Buffer;
  readonly migrationId: string;
  /**
   * The public key that the person claims to have. If the proof is a signature, it shows that they have the private
   * key. If it is an ID token, it shows only which account is theirs.
   */
  readonly publicKey: string;
  /** The proof as the portal has stored it. Not validated. */
  readonly proof: unknown;
}

/** Takes open requests, the oldest first. */
export async function takeSignIns(
  db: Database,
  { namespace, limit, leaseMs }: TakeOptions,
): Promise<readonly SignInRequest[]> {
  return allRows<SignInRequest>(db)`
    with due as (
      select s.session_hash from portal_sign_ins s
      join migrations m on m.id = s.migration_id
      where s.session_hash in (select session_hash from open_portal_sign_ins)
        and (m.namespace = ${namespace} or m.namespace is null)
        and (s.taken_at is null or s.taken_at < clock_timestamp() - ${leaseMs}::bigint * interval '1 millisecond')
      order by s.created_at limit ${limit} for update of s skip locked)
    update portal_sign_ins s set taken_at = clock_timestamp() from due where s.session_hash = due.session_hash
    returning s.session_hash as "sessionHash", s.migration_id as "migrationId", s.public_key as "publicKey", s.proof`;
}

export type SignInOutcome = 'signed-in' | 'unconfirmed' | 'refused';

/** Maximum number of sessions of an invitation. A new one ends the session that would expire first. */
const MAX_SESSIONS = 10;

/**
 * Creates the session of a person who has proved that they own the key in the request. Support must have confirmed the
 * key. Otherwise, a person who has intercepted an invitation and registered a key could start more sessions.
 *
 * @returns `unconfirmed` if support has not confirmed the key; `refused` if no invitation has the key, the invitation
 * was revoked, or the request was answered before
 */
export async function signInWithKey(
  db: Database,
  { sessionHash, migrationId, publicKey }: Omit<SignInRequest, 'proof'>,
): Promise<SignInOutcome> {
  return db.transaction().execute(async (tx) => {
    // The lock waits for a revocation in progress.
    const invitation = await tx
      .selectFrom('portal_invitations')
      .select(['id', 'key_confirmed_at'])
      .where('migration_id', '=', migrationId)
      .where('public_key', '=', publicKey)
      .where('revoked_at', 'is', null)
      .orderBy('created_at', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    if (invitation === undefined) return answer(tx, sessionHash, 'refused');
    if (invitation.key_confirmed_at === null) return answer(tx, sessionHash, 'unconfirmed');
    return answer(tx, sessionHash, (await createSession(tx, sessionHash, invitation.id)) ? 'signed-in' : 'refused');
  });
}

/** A person's account at an identity provider. */
export interface SignInIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Verified by the identity provider. */
  readonly email: string;
}

/**
 * Creates the session of a person who has signed in at an identity provider. The first sign-in redeems the invitation:
 * the verified email address must match the invitation, the account is bound to the invitation, and the key of a
 * client's browser is registered. From then on, only the account is checked, because an email address can be given to
 * another person.
 *
 * @returns `refused` if the account was not invited, the invitation was revoked or has expired unused, or the request
 * was answered before
 */
export async function signInWithIdentity(
  db: Database,
  { sessionHash, migrationId, publicKey }: Omit<SignInRequest, 'proof'>,
  { issuer, subject, email }: SignInIdentity,
): Promise<SignInOutcome> {
  return db.transaction().execute(async (tx) => {
    // The lock waits for a revocation or another first sign-in that is in progress. If there are several invitations,
    // the query prefers the invitation with the browser's key, then an unused invitation, then the latest.
    const { rows } = await sql<{ id: string; isUsed: boolean }>`
      select id, redeemed_at is not null as "isUsed" from portal_invitations
      where migration_id = ${migrationId} and issuer = ${issuer} and revoked_at is null
        and (subject = ${subject} or subject is null)
        and (redeemed_at is not null
          or (lower(email) = lower(${email}::text) and expires_at > clock_timestamp()))
      order by public_key is not distinct from ${publicKey} desc, redeemed_at is null desc, created_at desc
      limit 1 for update`.execute(tx);
    const [invitation] = rows;
    if (invitation === undefined) return answer(tx, sessionHash, 'refused');
    if (!(await createSession(tx, sessionHash, invitation.id))) return answer(tx, sessionHash, 'refused');
    if (!invitation.isUsed)
      await sql`
        update portal_invitations
        set redeemed_at = clock_timestamp(), subject = ${subject},
          public_key = case when role = 'client' then ${publicKey} end
        where id = ${invitation.id}`.execute(tx);
    return answer(tx, sessionHash, 'signed-in');
  });
}

export async function refuseSignIn(db: Database, sessionHash: Buffer): Promise<void> {
  await answer(db, sessionHash, 'refused');
}

async function answer(db: Queryable, sessionHash: Buffer, outcome: SignInOutcome): Promise<SignInOutcome> {
  await sql`
    update portal_sign_ins set outcome = ${outcome}, proof = null
    where session_hash = ${sessionHash} and outcome is null`.execute(db);
  return outcome;
}

/**
 * Creates the requested session. If the invitation then has too many sessions, ends those that expire first.
 *
 * @returns false if the request was answered before, or the session exists or has existed
 */
async function createSession(tx: Queryable, sessionHash: Buffer, invitationId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into portal_sessions (session_hash, invitation_id, expires_at)
    select s.session_hash, ${invitationId}::uuid, clock_timestamp() + s.lifetime_ms * interval '1 millisecond'
    from portal_sign_ins s where s.session_hash = ${sessionHash} and s.outcome is null
    on conflict do nothing returning session_hash`.execute(tx);
  await sql`
    update portal_sessions set ended_at = clock_timestamp()
    where ended_at is null and session_hash in (
      select session_hash from live_portal_sessions where invitation_id = ${invitationId}
      order by expires_at desc offset ${MAX_SESSIONS})`.execute(tx);
  return rows.length === 1;
}
