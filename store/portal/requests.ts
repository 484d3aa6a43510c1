/**
 * Portal requests: what people have sent through the portal. Workers take requests, carry them out, and answer them.
 * Two workers can carry out the same request if the first is slow, so carrying out a request must be idempotent.
 */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { PortalRole } from './invitations';

export interface PortalRequest {
  readonly id: string;
  readonly migrationId: string;
  readonly kind: 'decide' | 'credentials' | 'application' | 'manifest' | 'report';
  /** As the browser sent it. Not validated. */
  readonly body: unknown;
  readonly invitationId: string;
  readonly person: string;
  readonly role: PortalRole;
  /** The public key that was registered with the invitation; null for a viewer. */
  readonly publicKey: string | null;
  /** True once support has confirmed the key's fingerprint. */
  readonly isKeyConfirmed: boolean;
  readonly createdAt: Date;
  /** True if a worker has taken the request before and has not answered it. */
  readonly isRetry: boolean;
}

export interface TakingRequests {
  /** The Temporal namespace of the migrations. Migrations without a recorded namespace belong to every namespace. */
  readonly namespace: string;
  readonly limit: number;
  /** After this time without an answer, a request can be taken again. In milliseconds. */
  readonly leaseMs: number;
}

/** Takes open requests, the oldest first. Leaves out those of revoked invitations and of migrations without a workflow. */
export async function takePortalRequests(
  db: Database,
  { namespace, limit, leaseMs }: TakingRequests,
): Promise<readonly PortalRequest[]> {
  const { rows } = await sql<PortalRequest>`
    with due as (
        select r.id, r.taken_at is not null as is_retry from portal_requests r
        join portal_invitations i on i.id = r.invitation_id
        join migrations m on m.id = r.migration_id
        where r.answered_at is null and i.revoked_at is null and m.state <> 'supplied'
          and (m.namespace = ${namespace} or m.namespace is null)
          and (r.taken_at is null or r.taken_at < clock_timestamp() - ${leaseMs}::bigint * interval '1 millisecond')
        order by r.created_at limit ${limit} for update of r skip locked),
    taken as (
      update portal_requests r set taken_at = clock_timestamp() from due where r.id = due.id
      returning r.*, due.is_retry)
    select t.id, t.migration_id as "migrationId", t.kind, t.body, t.invitation_id as "invitationId", i.person, i.role,
      i.public_key as "publicKey", i.key_confirmed_at is not null as "isKeyConfirmed", t.created_at as "createdAt", t.is_retry as "isRetry"
    from taken t join portal_invitations i on i.id = t.invitation_id
    order by t.created_at`.execute(db);
  return rows;
}

/**
 * Stores the answer to a request, and deletes the request's body.
 *
 * @returns false if the request has an answer already, or was deleted because its invitation was revoked
 */
export async function answerPortalRequest(db: Database, id: string, answer: object): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('portal_requests')
    .set({ answer: JSON.stringify(answer), answered_at: sql<Date>`clock_timestamp()`, body: null })
    .where('id', '=', id)
    .where('answered_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Deletes what the portal no longer needs: requests answered a day ago, sessions that ended a day ago, and sign-ins of an
 * hour ago. By then, the signature of a sign-in is too old to be used again.
 */
export async function deleteOldPortalRequests(db: Database): Promise<void> {
  await sql`
    delete from portal_requests where answered_at < clock_timestamp() - interval '1 day'`.execute(db);
  await sql`delete from portal_sign_ins where created_at < clock_timestamp() - interval '1 hour'`.execute(db);
  await sql`
    delete from portal_sessions
    where least(ended_at, expires_at, last_used_at + interval '3 days') < clock_timestamp() - interval '1 day'`.execute(
    db,
  );
}
