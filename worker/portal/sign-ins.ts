/**
 * Signs people in who have proved that they have a registered key. The worker checks the proof, because the portal must
 * not be able to create a session for a person who has not asked for one.
 */
import { z } from 'zod';
import { signInProblem } from '../../domain/migration/sign-in';
import type { SignInOutcome, SignInRequest } from '../../store';
import { refuseSignIn, signInWithKey } from '../../store';
import type { PortalContext } from './context';

const KeyProofSchema = z.strictObject({ signedAt: z.string(), signature: z.string() });

export async function handleSignIn({ ferry, log }: PortalContext, request: SignInRequest): Promise<void> {
  const { db } = ferry;
  const outcome = isProved(request) ? await signInWithKey(db, request) : await refuse();
  log.info({ migration: request.migrationId, outcome }, 'portal sign-in answered');

  async function refuse(): Promise<SignInOutcome> {
    await refuseSignIn(db, request.sessionHash);
    return 'refused';
  }
}

function isProved({ migrationId, publicKey, sessionHash, proof }: SignInRequest): boolean {
  const parsed = KeyProofSchema.safeParse(proof);
  if (!parsed.success) return false;
  const { signedAt, signature } = parsed.data;
  const signIn = { migrationId, publicKey, sessionHash: sessionHash.toString('hex'), signedAt };
  return signInProblem(signIn, signature, new Date()) === null;
}
