/**
 * The digest of the boxes that a decision supplies (`sealedDigest`). The client signs it as a part of the decision, so
 * the ledger refuses the decision if boxes were replaced, added or removed after the signature. Browsers and Node
 * compute the same digest.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';

/** The parts of a sealed credential that the digest covers. */
export interface HashedCredential {
  readonly reference: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly obtainedAt: string;
  /** The result of {@link hashOfBox}. */
  readonly boxHash: string;
}

/** Returns the SHA-256 of a box, in hexadecimal digits. */
export function hashOfBox(box: Uint8Array): string {
  return bytesToHex(sha256(box));
}

/** Returns the digest of sealed credentials. Their order does not matter. Each reference must occur once. */
export function credentialsDigest(credentials: Iterable<HashedCredential>): string {
  const listed = [...credentials].sort((one, other) => (one.reference < other.reference ? -1 : 1));
  return digestOf([
    'tokenferry sealed credentials 1',
    ...listed.map(({ reference, obtainedAt, boxHash }) => [reference, obtainedAt, boxHash]),
  ]);
}

/** Returns the digest of an application and its sealed client secret. */
export function applicationDigest({
  clientId,
  environment,
  boxHash,
}: {
  readonly clientId: string;
  readonly environment: string;
  /** The result of {@link hashOfBox}. */
  readonly boxHash: string;
}): string {
  return digestOf(['tokenferry sealed application 1', clientId, environment, boxHash]);
}

function digestOf(list: readonly unknown[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(list))));
}
