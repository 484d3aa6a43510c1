import { parseCredential, type CredentialTimes, type ParsedCredential } from '../../domain/supply/row-parser';
import type { RowReader } from '../../domain/supply/row-reader';
import type { Platform } from '../../platforms/platforms';
import { Secret } from '../../security/secret';

/** A credential from a file, which cannot be printed by accident. */
export interface SecretCredential extends Omit<ParsedCredential, 'fields'> {
  readonly fields: Secret<ParsedCredential['fields']>;
}

/** Parses a credential. Reports errors, and returns null if there are any. */
export function parseSecretCredential(
  reader: RowReader,
  platform: Platform,
  times: CredentialTimes,
): SecretCredential | null {
  const credential = parseCredential(reader, platform, times);
  return credential && { ...credential, fields: new Secret(credential.fields) };
}
