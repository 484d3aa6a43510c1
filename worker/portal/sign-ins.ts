/**
 * Signs in people who have proved that they have a registered key, or an account that was invited. The worker checks
 * the proof, because the portal must not be able to create a session for a person who has not asked for one.
 */
import { z } from 'zod';
import { identityNonce } from '../../domain/migration/identity-sign-in';
import { signInProblem } from '../../domain/migration/sign-in';
import { IdentityRefused } from '../../security';
import { refuseSignIn, signInWithIdentity, signInWithKey, type SignInOutcome, type SignInRequest } from '../../store';
import type { PortalContext } from './context';

const KeyProofSchema = z.strictObject({ signedAt: z.string(), signature: z.string() });
const IdentityProofSchema = z.strictObject({ idToken: z.string() });

/** @throws {IdentityProviderUnavailable} if an ID token cannot be verified now; the request is then taken again */
export async function handleSignIn(context: PortalContext, request: SignInRequest): Promise<void> {
  const { ferry, log } = context;
  const { db } = ferry;
  const outcome = await signIn();
  log.info({ migration: request.migrationId, outcome }, 'portal sign-in answered');

  async function signIn(): Promise<SignInOutcome> {
    const identityProof = IdentityProofSchema.safeParse(request.proof).data;
    if (identityProof) {
      const identity = await identityOf(context, request, identityProof.idToken);
      if (identity) return signInWithIdentity(db, request, identity);
    } else if (hasSigned(request)) return signInWithKey(db, request);
    await refuseSignIn(db, request.sessionHash);
    return 'refused';
  }
}

/** Returns the account that the ID token proves; null if it proves none, or if no identity provider is configured. */
async function identityOf({ verifyIdentity, log }: PortalContext, request: SignInRequest, idToken: string) {
  const { migrationId, publicKey } = request;
  if (verifyIdentity === undefined) {
    log.warn(
      { migration: migrationId },
      'a person has signed in at an identity provider, but this worker has no identity provider configured; set TOKENFERRY_OPENID_ISSUER and TOKENFERRY_OPENID_CLIENT_ID',
    );
    return null;
  }
  try {
    const sessionHash = request.sessionHash.toString('hex');
    return await verifyIdentity(idToken, identityNonce({ migrationId, publicKey, sessionHash }));
  } catch (error) {
    if (!(error instanceof IdentityRefused)) throw error;
    log.warn({ migration: migrationId, reason: error.message }, 'an ID token was refused');
    return null;
  }
}

function hasSigned({ migrationId, publicKey, sessionHash, proof }: SignInRequest): boolean {
  const parsed = KeyProofSchema.safeParse(proof);
  if (!parsed.success) return false;
  const { signedAt, signature } = parsed.data;
  const signIn = { migrationId, publicKey, sessionHash: sessionHash.toString('hex'), signedAt };
  return signInProblem(signIn, signature, new Date()) === null;
}
