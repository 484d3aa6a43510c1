/** Signs in to the portal again, as a person with a key does, and answers sign-ins, as a worker does. */
import { setTimeout as delay } from 'node:timers/promises';
import { signInText } from '../../domain/migration/sign-in';
import type { SignInAgain } from '../../portal/contract/session';
import {
  createPortalToken,
  createSigningKey,
  hashPortalToken,
  parseSigningKey,
  Secret,
  type VerifyIdentity,
} from '../../security';
import { takeSignIns, type Database } from '../../store';
import type { PortalContext } from '../../worker/portal/context';
import { handleSignIn } from '../../worker/portal/sign-ins';
import { createLog } from '../../security/log';

export const newKey = () => parseSigningKey(new Secret(createSigningKey('Cleo')));
export type Key = ReturnType<typeof newKey>;

/** Returns a request to sign in with this key. `fields` replace fields of the signed content. */
export function signedSignIn(key: Key, migrationId: string, fields: Partial<SignInAgain> = {}): SignInAgain {
  const { publicKey } = key;
  const content = { migrationId, publicKey, token: createPortalToken(), signedAt: new Date().toISOString(), ...fields };
  const sessionHash = hashPortalToken(content.token).toString('hex');
  return { as: 'token', signature: key.sign(signInText({ ...content, sessionHash })), ...content };
}

/** Answers the open requests to sign in, and returns their number. */
export async function answerSignIns(db: Database, verifyIdentity?: VerifyIdentity): Promise<number> {
  const log = createLog({ level: 'silent', to: 2 });
  const context = { ferry: { db }, log, verifyIdentity } as unknown as PortalContext;
  const requests = await takeSignIns(db, { namespace: 'default', limit: 10, leaseMs: 10_000 });
  for (const request of requests) await handleSignIn(context, request);
  return requests.length;
}

/** Answers requests to sign in until the work is done. */
export async function withWorker<T>(db: Database, work: () => Promise<T>, verifyIdentity?: VerifyIdentity): Promise<T> {
  let isDone = false;
  const worker = (async () => {
    while (!isDone) {
      await answerSignIns(db, verifyIdentity);
      await delay(20);
    }
  })();
  try {
    return await work();
  } finally {
    isDone = true;
    await worker;
  }
}
