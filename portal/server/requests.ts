/**
 * Portal requests: a person's decisions, supplied data and requests for reports. They wait in the database until a
 * worker has answered them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PortalRequestKind, RequestAnswer } from '../contract/requests';
import { assertNotEnded } from './access';
import type { SignedIn } from './api';
import type { PortalContext } from './context';
import { noSession, storedTooMany } from './errors';

const FIRST_POLL_MS = 150;
const LONGEST_POLL_MS = 1_000;
/** How many times a person can send a request that workers fail to carry out. */
const MAX_ATTEMPTS = 50;

export interface SubmittedRequest {
  readonly kind: PortalRequestKind;
  readonly body: unknown;
}

export interface RequestStatus {
  readonly id: string;
  readonly answer: RequestAnswer | null;
}

/**
 * Stores a request and waits for its answer. A repeated request, except for a report, is not stored again, because its
 * id is derived from its content: after a lost connection, the page or `ferry --portal` sends the same request and gets
 * the same answer. If that answer is `failed`, the request is stored and carried out again under a new id. A decision
 * that was applied in spite of the failure is not applied twice, because the decision's own id stays the same.
 *
 * @param isCancelled returns true once the sender no longer waits for the answer
 * @throws {PortalError} 401 if the session ends meanwhile, 429 if the invitation's requests are too many or too large
 */
export async function submitAndWait(
  context: Pick<PortalContext, 'db' | 'answerWaitMs'>,
  session: SignedIn,
  request: SubmittedRequest,
  isCancelled: () => boolean,
): Promise<RequestStatus> {
  const { db, answerWaitMs } = context;
  const waitUntil = performance.now() + answerWaitMs;
  const idOf = request.kind === 'report' ? () => randomUUID() : idsOf(session, request);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const id = idOf(attempt);
    const result = await db.submit(session.hash, { id, ...request });
    if (result === null) throw noSession();
    if (result === 'refused') break;
    const known = result === 'exists' ? await db.answer(session.hash, id) : null;
    if (known == null) return { id, answer: await answerUntil(waitUntil, id) };
    if (known.outcome !== 'failed') return { id, answer: known };
  }
  throw storedTooMany('You have sent too many requests.', 30);

  async function answerUntil(end: number, id: string): Promise<RequestAnswer | null> {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 1.3, LONGEST_POLL_MS)) {
      const answer = await db.answer(session.hash, id);
      if (answer === undefined) await assertNotEnded(db, session);
      if (answer != null || isCancelled() || performance.now() + pauseMs > end) return answer ?? null;
      await delay(pauseMs);
    }
  }
}

/** Returns a function that computes the id (UUID version 8) of each attempt at this request of this invitation. */
function idsOf({ invitationId }: SignedIn, { kind, body }: SubmittedRequest): (attempt: number) => string {
  const content = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  return (attempt) => {
    const digest = createHash('sha256')
      .update(JSON.stringify([invitationId, kind, content, attempt]))
      .digest();
    digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
    digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = digest.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
  };
}
