/**
 * Portal requests. Workers take requests, carry them out, and answer them. If a worker does not answer within its
 * lease, a second worker carries out the same request. Carrying out a request must therefore be idempotent.
 */
import { sql } from 'kysely';
import { allRows, type Database } from '../database/database';
import type { PortalRole } from './invitations';

export interface PortalRequest {
  readonly id: string;
  readonly migrationId: string;
  readonly kind: 'decide' | 'credentials' | 'application' | 'manifest' | 'report';
  /**
   * The request as it arrived at the portal, not validated. Null from the attempt after `MAX_ATTEMPTS`, because reading
   * the request might crash workers.
   */
  readonly body: unknown;
  /** The id of the decision that the body contains; null if it contains none. Not validated. */
  readonly decisionId: string | null;
  readonly invitationId: string;
  readonly person: string;
  readonly role: PortalRole;
  /** The public key that was registered with the invitation; null for a viewer. */
  readonly publicKey: string | null;
  /** True once support has confirmed the key's fingerprint. */
  readonly isKeyConfirmed: boolean;
  readonly createdAt: Date;
  /** How many workers have taken the request without answering it or giving it back, including this worker. */
  readonly attempts: number;
}

/** After this many attempts, a request is answered without being carried out, because it might crash workers. */
export const MAX_ATTEMPTS = 3;

export interface TakeOptions {
  /** The Temporal namespace of the migrations. Migrations without a recorded namespace belong to every namespace. */
  readonly namespace: string;
  readonly limit: number;
  /** Milliseconds after which another worker can take a request that has not been answered. */
  readonly leaseMs: number;
}

interface TakeRequestsOptions extends TakeOptions {
  /** True: only requests that a worker took and neither answered nor gave back. False: only others. Default: both. */
  readonly hasFailed?: boolean;
}

/**
 * Takes open requests, the oldest first. Omits the requests of revoked invitations and of migrations without a
 * workflow.
 *
 * The requests of one person for a migration are taken in the order in which they were stored, each after the previous
 * request has been answered. The reason: decisions must arrive in the order in which they were signed. Reports change
 * nothing, so they wait only for other reports, and other requests do not wait for reports.
 */
export async function takePortalRequests(
  db: Database,
  { namespace, limit, leaseMs, hasFailed }: TakeRequestsOptions,
): Promise<readonly PortalRequest[]> {
  return allRows<PortalRequest>(db)`
    with due as (
        select r.id from portal_requests r
        join portal_invitations i on i.id = r.invitation_id
        join migrations m on m.id = r.migration_id
        where r.answered_at is null and r.due_at <= clock_timestamp() and i.revoked_at is null and m.state <> 'supplied'
          and (m.namespace = ${namespace} or m.namespace is null)
          and (r.attempts > 0) = coalesce(${hasFailed ?? null}::boolean, r.attempts > 0)
          and not exists (
            select from portal_requests e
            join portal_invitations o on o.id = e.invitation_id
            where e.answered_at is null and e.position < r.position and e.migration_id = r.migration_id
              and o.person = i.person and o.revoked_at is null and (e.kind = 'report') = (r.kind = 'report'))
        order by r.position limit ${limit} for update of r skip locked),
    taken as (
      update portal_requests r
      set due_at = clock_timestamp() + ${leaseMs}::bigint * interval '1 millisecond', attempts = r.attempts + 1
      from due where r.id = due.id
      returning r.*)
    select t.id, t.migration_id as "migrationId", t.kind, t.invitation_id as "invitationId", i.person, i.role,
      i.public_key as "publicKey", i.key_confirmed_at is not null as "isKeyConfirmed", t.created_at as "createdAt",
      t.attempts, case when t.attempts <= ${MAX_ATTEMPTS} then t.body end as body,
      coalesce(t.body ->> 'decisionId', t.body -> 'decision' ->> 'decisionId') as "decisionId"
    from taken t join portal_invitations i on i.id = t.invitation_id
    order by t.position`;
}

/**
 * Gives back a request that the worker could not carry out yet. Does nothing if another worker has taken the request
 * since.
 *
 * @param afterMs milliseconds after which a worker can take the request again
 */
export async function postponePortalRequest(
  db: Database,
  { id, attempts }: Pick<PortalRequest, 'id' | 'attempts'>,
  afterMs: number,
): Promise<void> {
  await sql`
    update portal_requests
    set due_at = clock_timestamp() + ${afterMs}::bigint * interval '1 millisecond', attempts = attempts - 1
    where id = ${id} and attempts = ${attempts} and answered_at is null`.execute(db);
}

/**
 * Stores the answer to a request, and deletes the request's body.
 *
 * @param isGivenUp true if no worker could carry out the request; `listGivenUpRequests` then lists it for support
 * @returns false if the request has an answer already, or was deleted because its invitation was revoked
 */
export async function answerPortalRequest(
  db: Database,
  id: string,
  answer: object,
  isGivenUp = false,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('portal_requests')
    .set({
      ...{ answer: JSON.stringify(answer), answered_at: sql<Date>`clock_timestamp()`, body: null },
      is_given_up: isGivenUp,
    })
    .where('id', '=', id)
    .where('answered_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A request that was answered although no worker could carry it out. */
export interface GivenUpRequest extends Pick<PortalRequest, 'id' | 'migrationId' | 'kind' | 'person'> {
  readonly answeredAt: Date;
}

/** Lists the requests that workers gave up on in the last day, the latest first. */
export async function listGivenUpRequests(db: Database, namespace: string): Promise<readonly GivenUpRequest[]> {
  return allRows<GivenUpRequest>(db)`
    select r.id, r.migration_id as "migrationId", r.kind, i.person, r.answered_at as "answeredAt"
    from portal_requests r
    join portal_invitations i on i.id = r.invitation_id
    join migrations m on m.id = r.migration_id
    where r.is_given_up and r.answered_at > clock_timestamp() - interval '1 day'
      and (m.namespace = ${namespace} or m.namespace is null)
    order by r.answered_at desc, r.id`;
}

/**
 * Deletes data that the portal no longer needs: requests that were answered more than a day ago, sessions that ended
 * more than a day ago, and sign-in requests that are older than an hour. The proof of a sign-in request is no longer
 * accepted after an hour, so the request cannot be repeated.
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
