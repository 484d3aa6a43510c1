/**
 * Stores the response to a request with an idempotency key, and sends it again if a request repeats the key.
 *
 * The work and the response are stored in one transaction, so a service that is killed has stored both or neither. An
 * error rolls both back, so the request can be retried.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Database } from '../database/database';
import { sha256 } from '../digests';
import { badRequest, conflict } from './errors/errors';

const RETENTION = sql`interval '90 minutes'`;
const KeySchema = z.guid();

export interface Answer {
  readonly statusCode: number;
  /** Absent if there is no body. */
  readonly body?: unknown;
}

/**
 * Runs `work` in a transaction and sends its response. With an idempotency key, the work is done at most once in 90
 * minutes.
 *
 * @throws ServiceError 400 if the key is not a UUID or has been used with a different body, 409 while the first request
 * with the key is in progress
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
    const bodyDigest = sha256(JSON.stringify(request.body ?? null));
    const earlier = await findAnswer(transaction, scope, bodyDigest);
    if (earlier) return earlier;
    const answer = await work(transaction);
    await storeAnswer(transaction, scope, bodyDigest, answer);
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

async function findAnswer(transaction: Database, scope: Scope, bodyDigest: Buffer): Promise<Answer | undefined> {
  const lock = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${Object.values(scope).join(' ')}, 1)) as held`.execute(
    transaction,
  );
  if (!lock.rows[0]?.held) throw conflict('The first request with this Idempotency-Key is still in progress.');
  const { rows } = await sql<{ body_digest: Buffer; status_code: number; body: string | null }>`
    select body_digest, status_code, body from idempotent_responses
    where account_id = ${scope.account_id} and method = ${scope.method} and path = ${scope.path} and key = ${scope.key}
      and created_at > clock_timestamp() - ${RETENTION}`.execute(transaction);
  const earlier = rows[0];
  if (!earlier) return undefined;
  if (!earlier.body_digest.equals(bodyDigest)) {
    throw badRequest([
      { itemId: 'Idempotency-Key', message: 'Idempotency-Key has already been used with a different body' },
    ]);
  }
  const body: unknown = earlier.body === null ? undefined : JSON.parse(earlier.body);
  return { statusCode: earlier.status_code, body };
}

async function storeAnswer(transaction: Database, scope: Scope, bodyDigest: Buffer, { statusCode, body }: Answer) {
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

/** Deletes the stored responses that have expired. */
export async function deleteOldAnswers(db: Database): Promise<void> {
  await sql`delete from idempotent_responses where created_at < clock_timestamp() - ${RETENTION}`.execute(db);
}
