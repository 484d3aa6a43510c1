/**
 * Answers a creation that is sent again with what it was answered the first time.
 *
 * The work and the memory of its answer are one transaction, so that a service that is killed in the middle has done
 * neither; an error rolls both back, so that "retry later" holds.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Database } from '../database/database';
import { badRequest, conflict } from './errors';

const KEPT = sql`interval '90 minutes'`;
const KeySchema = z.guid();

/** What a handler answers, before it is sent. */
export interface Answer {
  readonly statusCode: number;
  /** Absent for an answer without a body. */
  readonly body?: unknown;
}

/**
 * Does `work` in a transaction and sends its answer; under a request's idempotency key, at most once.
 *
 * @throws ServiceError 400 when the key is no UUID or came with another body, 409 while its first request is under way
 */
export async function answerOnce(
  db: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (transaction: Database) => Promise<Answer>,
): Promise<void> {
  const key = keyOf(request);
  const answer = await db.transaction().execute(async (transaction) => {
    if (key === undefined) return work(transaction);
    const scope = { account_id: request.caller.accountId, method: request.method, path: request.url, key };
    const bodyDigest = createHash('sha256')
      .update(JSON.stringify(request.body ?? null))
      .digest();
    const earlier = await recall(transaction, scope, bodyDigest);
    if (earlier) return earlier;
    const answer = await work(transaction);
    await remember(transaction, scope, bodyDigest, answer);
    return answer;
  });
  await reply.code(answer.statusCode).send(answer.body);
}

function keyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = KeySchema.safeParse(header);
  if (!key.success) throw badRequest([{ itemId: 'Idempotency-Key', message: 'Idempotency-Key must be a UUID' }]);
  return key.data.toLowerCase();
}

interface Scope {
  readonly account_id: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

async function recall(transaction: Database, scope: Scope, bodyDigest: Buffer): Promise<Answer | undefined> {
  const held = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${Object.values(scope).join(' ')}, 1)) as held`.execute(
    transaction,
  );
  if (!held.rows[0]?.held) throw conflict('The first request with this Idempotency-Key is still under way.');
  const { rows } = await sql<{ body_digest: Buffer; status_code: number; body: string | null }>`
    select body_digest, status_code, body from idempotent_responses
    where account_id = ${scope.account_id} and method = ${scope.method} and path = ${scope.path} and key = ${scope.key}
      and created_at > clock_timestamp() - ${KEPT}`.execute(transaction);
  const earlier = rows[0];
  if (!earlier) return undefined;
  if (!earlier.body_digest.equals(bodyDigest)) {
    throw badRequest([{ itemId: 'Idempotency-Key', message: 'Idempotency-Key was used with another body' }]);
  }
  const body: unknown = earlier.body === null ? undefined : JSON.parse(earlier.body);
  return { statusCode: earlier.status_code, body };
}

async function remember(transaction: Database, scope: Scope, bodyDigest: Buffer, { statusCode, body }: Answer) {
  const row = {
    body_digest: bodyDigest,
    status_code: statusCode,
    body: body === undefined ? null : JSON.stringify(body),
    created_at: new Date(),
  };
  await transaction
    .insertInto('idempotent_responses')
    .values({ ...scope, ...row })
    .onConflict((conflict) => conflict.columns(['account_id', 'method', 'path', 'key']).doUpdateSet(row))
    .execute();
}

/** Forgets the answers whose time is over. */
export async function forgetOldAnswers(db: Database): Promise<void> {
  await sql`delete from idempotent_responses where created_at < clock_timestamp() - ${KEPT}`.execute(db);
}
