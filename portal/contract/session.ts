/** The portal's API: signing in to the portal, and the session of a person. */
import { z } from 'zod';

const moment = z.iso.datetime();
/** A text with this number of hexadecimal digits. */
export const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

/** A token of the portal: 32 random bytes in base64url. */
export const portalToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** `client` may decide and supply; `viewer` may only read. */
export const PORTAL_ROLES = ['client', 'viewer'] as const;

/** A person's session. */
export const SessionSchema = z.object({
  migrationId: z.string(),
  person: z.string(),
  role: z.enum(PORTAL_ROLES),
  /** The person's public key (Ed25519) that was registered with the invitation; null for a viewer. */
  publicKey: hex(64).nullable(),
  /** True once support has confirmed the key's fingerprint. */
  isKeyConfirmed: z.boolean(),
  expiresAt: moment,
});
export type PortalSession = z.infer<typeof SessionSchema>;

/** Redeems an invitation. */
export const RedeemSchema = z.strictObject({
  /** The token in the link. A shorter text is part of a token, from a link that was cut off. */
  invitation: z.string().min(43).max(200),
  /** Required for clients; ignored for viewers. */
  publicKey: hex(64).optional(),
  /** `cookie` for browsers; `token` returns a bearer token, for `ferry --portal`. */
  as: z.enum(['cookie', 'token']),
});

/**
 * Signs in again with the key that was registered with an invitation, after support has confirmed the key. A worker
 * checks the signature and creates the session, so the answer can take some seconds. The same request can be repeated,
 * and creates only one session. The portal accepts the request until `SIGN_IN_VALID_MS` after it was signed, but
 * workers take it only within `SIGN_IN_TAKEN_WITHIN_MS` after it was first sent.
 */
export const SignInAgainSchema = z.strictObject({
  migrationId: z.string().min(1).max(200),
  publicKey: hex(64),
  /** The token of the new session, which the caller creates. */
  token: portalToken,
  signedAt: moment,
  /** Ed25519 signature of `signInText` (domain/migration/sign-in.ts), 128 hexadecimal digits. */
  signature: hex(128),
  /** `cookie` for browsers, `token` for programs. */
  as: z.enum(['cookie', 'token']),
});
export type SignInAgain = z.infer<typeof SignInAgainSchema>;

/** Starts a sign-in at the identity provider, for a migration to which the person was invited by account. */
export const StartIdentitySignInSchema = z.strictObject({
  migrationId: z.string().min(1).max(200),
  /** The browser's key. A client's first sign-in registers it. */
  publicKey: hex(64),
});

/** The address of the identity provider at which the person signs in. */
export const IdentitySignInStartedSchema = z.object({ address: z.url() });

/** Completes a sign-in. `query`: the query string with which the identity provider sent the browser to the portal. */
export const FinishIdentitySignInSchema = z.strictObject({ query: z.string().min(1).max(6_000) });
