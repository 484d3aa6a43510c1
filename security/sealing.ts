/**
 * Sealing: encrypts credentials in two layers, so that a copy of the database is not sufficient to decrypt them.
 *
 * 1. Each migration's vault has a key pair. A credential is sealed with the public key, and only the private key opens
 *    it. `ferry credentials` and `ferry seal` use only the public key, so they cannot open a credential again. Each
 *    sealed credential is bound to a migration and a company (bindings.ts), so a copy in another row cannot be opened.
 * 2. The private key is wrapped (encrypted) twice (vault-key-wrapper.ts), first with the vault's own secret and then
 *    with a master key. Postgres stores only the result.
 *
 * Sealing is HPKE (hpke.ts). The boxes that one sealer makes share an encapsulation, and each box can be opened without
 * the others. A box has one of three versions:
 * - version 3: the version (one byte), the encapsulated key (65 bytes), the sequence number (4 bytes), the ciphertext
 *   with its tag; the version is part of the additional authenticated data
 * - version 2, which is no longer made: the same parts, but bound to the number of a row, and not to the version
 * - version 1, which is no longer made: as version 2, but without the sequence number, which is always 0
 *
 * Anyone who has the public key can seal.
 */
import { createKeyPair, createRecipients, createSender, POINT_BYTES, publicKeyOf } from './hpke';
import { Secret } from './secret';
import { renewal } from './vault-secrets';

/** The versions of a box that can be opened. Only the first, which is the newest, is still made. */
const [VERSION, BOUND_TO_ROW, WITHOUT_SEQUENCE] = [3, 2, 1];
const SEQUENCE_BYTES = 4;
/**
 * Number of encapsulations that an opener remembers, because the next box probably has the same encapsulation as an
 * earlier box.
 */
const REMEMBERED = 100;
/** Separates the uses of HPKE: a box that was sealed with other `info` cannot be opened here. */
const INFO = Buffer.from('tokenferry vault 1');

/** The key pair of one migration's vault. */
export interface VaultKey {
  /** Uncompressed P-256 point, 65 bytes. Not secret. */
  readonly publicKey: Buffer;
  /** 32 bytes. Wrapped with the vault's secret and a master key before it is stored. */
  readonly privateKey: Secret<Buffer>;
}

/**
 * Thrown when a box cannot be opened, because it was altered, sealed with another key, or copied from another row, or
 * when its content is not valid.
 */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';

  constructor(options?: ErrorOptions) {
    super(
      'The sealed credential cannot be opened, because it was altered, was sealed with another key or for another company, or is not a credential.',
      options,
    );
  }
}

/**
 * Thrown when the stored public key is not valid or does not belong to the private key. An attacker who replaces the
 * public key in the database can read every credential that is sealed after that.
 */
export class VaultKeyMismatch extends Error {
  override readonly name = 'VaultKeyMismatch';

  /** @param migrationId the migration to which the vault belongs */
  constructor(migrationId: string, options?: ErrorOptions) {
    super(
      `The public key of the vault of ${migrationId} was altered or replaced in the database. Pause the migration and ` +
        `restore the key from a backup. If that is impossible, ${renewal(migrationId)} In both cases, treat credentials ` +
        'supplied since the change as leaked: have the client revoke these credentials and supply new credentials.',
      options,
    );
  }
}

export function createVaultKey(): VaultKey {
  const { publicKey, privateKey } = createKeyPair();
  return { publicKey, privateKey: new Secret(privateKey) };
}

/**
 * Seals a credential or a client secret.
 *
 * @param boundTo additional authenticated data: not secret, not part of the box, and required again to open it
 */
export type Sealer = (plaintext: Uint8Array, boundTo: Uint8Array) => Buffer;

/**
 * Creates a function that seals with the vault's public key. All of its boxes share one encapsulation, because creating
 * an encapsulation takes ten times as long as sealing a box. Create a new sealer for each group of credentials.
 *
 * @param migrationId the migration to which the key belongs; only errors contain it
 * @throws {VaultKeyMismatch} when the public key is not a P-256 point; only {@link assertKeyPair} detects a public key
 * that is valid but was replaced
 */
export function createSealer(publicKey: Uint8Array, migrationId: string): Sealer {
  const sender = attempt(
    () => createSender(publicKey, INFO),
    (cause) => new VaultKeyMismatch(migrationId, { cause }),
  );
  const header = Buffer.concat([Buffer.of(VERSION), sender.encapsulated]);
  return (plaintext, boundTo) => {
    const { sequence, ciphertext } = sender.encrypt(plaintext, withVersion(VERSION, boundTo));
    const number = Buffer.alloc(SEQUENCE_BYTES);
    number.writeUInt32BE(sequence);
    return Buffer.concat([header, number, ciphertext]);
  };
}

/**
 * Opens a sealed box.
 *
 * @throws {SealBroken}
 */
type Opener = (sealed: Uint8Array, boundTo: Uint8Array) => Buffer;

/**
 * Asserts that the two keys belong together.
 *
 * @param migrationId the migration to which the keys belong; only errors contain it
 * @throws {VaultKeyMismatch} when the public key does not belong to the private key
 */
export function assertKeyPair({ publicKey, privateKey }: VaultKey, migrationId: string): void {
  if (!publicKeyOf(privateKey.reveal()).equals(publicKey)) throw new VaultKeyMismatch(migrationId);
}

/**
 * Creates a function that opens the boxes that were sealed with this key pair, in any order.
 *
 * @param migrationId the migration to which the keys belong; only errors contain it
 * @throws {VaultKeyMismatch} when the public key does not belong to the private key
 */
export function createOpener(key: VaultKey, migrationId: string): Opener {
  assertKeyPair(key, migrationId);
  const { privateKey } = key;
  const createRecipient = createRecipients(privateKey.reveal(), INFO);
  const recipients = new Map<string, ReturnType<typeof createRecipient>>();

  function recipientOf(encapsulated: Buffer): ReturnType<typeof createRecipient> {
    const id = encapsulated.toString('latin1');
    const recipient = recipients.get(id) ?? createRecipient(encapsulated);
    recipients.set(id, recipient);
    const [oldest] = recipients.keys();
    if (recipients.size > REMEMBERED && oldest !== undefined) recipients.delete(oldest);
    return recipient;
  }

  return (sealed, boundTo) =>
    attempt(
      () => {
        const { version, encapsulated, sequence, ciphertext } = partsOf(Buffer.from(sealed));
        return recipientOf(encapsulated).decrypt(sequence, ciphertext, withVersion(version, boundTo));
      },
      (cause) => new SealBroken({ cause }),
    );
}

/** Returns the additional authenticated data. Versions before 3 did not include the version. */
function withVersion(version: number, boundTo: Uint8Array): Uint8Array {
  return version === VERSION ? Buffer.concat([Buffer.of(version), boundTo]) : boundTo;
}

/** Returns whether a box was made by a version of Tokenferry that bound credentials to the number of a row. */
export function isBoundToRow(box: Uint8Array): boolean {
  return box[0] === BOUND_TO_ROW || box[0] === WITHOUT_SEQUENCE;
}

/**
 * Splits a box into its parts.
 *
 * @throws when the box is too short or has an unknown version
 */
function partsOf(box: Buffer) {
  const version = box.readUInt8(0);
  if (![VERSION, BOUND_TO_ROW, WITHOUT_SEQUENCE].includes(version)) throw new RangeError('unknown version');
  const hasSequence = version !== WITHOUT_SEQUENCE;
  const sequenceAt = 1 + POINT_BYTES;
  return {
    version,
    encapsulated: box.subarray(1, sequenceAt),
    sequence: hasSequence ? box.readUInt32BE(sequenceAt) : 0,
    ciphertext: box.subarray(hasSequence ? sequenceAt + SEQUENCE_BYTES : sequenceAt),
  };
}

/** Returns the result of `work`. If `work` throws, throws the error that `describe` returns. */
function attempt<T>(work: () => T, describe: (cause: unknown) => Error): T {
  try {
    return work();
  } catch (cause) {
    throw describe(cause);
  }
}
