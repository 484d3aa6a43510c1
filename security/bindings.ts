/**
 * Bindings of sealed boxes (additional authenticated data). A box can be opened only with the values with which it was
 * sealed. The first word states the purpose, so that a sealed credential cannot pass as a sealed client secret.
 */
import type { Sealer } from './sealing';
import type { Secret } from './secret';

interface CredentialLabel {
  /** The client's reference for the company. */
  readonly reference: string;
  /** When the client's application obtained the credential. ISO 8601 in UTC, with milliseconds. */
  readonly obtainedAt: string;
}

/**
 * Returns the binding of a sealed credential. Includes the time, because otherwise an old credential could be presented
 * as if it was obtained after the confirmation.
 */
export function credentialBinding(migrationId: string, { reference, obtainedAt }: CredentialLabel): Buffer {
  return Buffer.from(JSON.stringify(['credential', migrationId, reference, obtainedAt]));
}

/** Seals the fields of a credential. */
export function sealCredential(
  seal: Sealer,
  migrationId: string,
  { fields, ...label }: CredentialLabel & { readonly fields: Secret<Readonly<Record<string, string>>> },
): Buffer {
  const { reference, obtainedAt } = label;
  const binding = credentialBinding(migrationId, { reference, obtainedAt: new Date(obtainedAt).toISOString() });
  return seal(Buffer.from(JSON.stringify(fields.reveal())), binding);
}

interface ApplicationLabel {
  readonly clientId: string;
  readonly environment: string;
}

/** Returns the binding of the sealed client secret of an application. */
export function applicationBinding(migrationId: string, { clientId, environment }: ApplicationLabel): Buffer {
  return Buffer.from(JSON.stringify(['application', migrationId, clientId, environment]));
}

/** Seals the client secret of an application. */
export function sealClientSecret(
  seal: Sealer,
  migrationId: string,
  { clientSecret, ...application }: ApplicationLabel & { readonly clientSecret: Secret },
): Buffer {
  return seal(Buffer.from(clientSecret.reveal()), applicationBinding(migrationId, application));
}
