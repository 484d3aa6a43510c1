import type { Secret } from './secret';

/** A key under the protection of a master key. */
interface WrappedKey {
  /** Names the master key; not secret. */
  readonly keyId: string;
  readonly wrapped: Buffer;
}

/** Keeps data keys under master keys: master keys in a file or a variable today, a cloud's key service one day. */
export interface KeyProvider {
  /** Names the master key that wraps from now on. */
  readonly newestKeyId: string;
  wrap(dataKey: Secret<Buffer>): Promise<WrappedKey>;
  /**
   * @throws {UnknownMasterKey} when the provider does not have the master key.
   * @throws {WrappedKeyBroken} when the wrapped key does not open with it.
   */
  unwrap(keyId: string, wrapped: Buffer): Promise<Secret<Buffer>>;
}

/**
 * Thrown when a data key was wrapped by a master key that this process was not given. Nothing is lost: give it the key.
 */
export class UnknownMasterKey extends Error {
  override readonly name = 'UnknownMasterKey';

  constructor(keyId: string, known: readonly string[]) {
    super(
      `This was encrypted under master key ${keyId}, and this process has only ${known.join(', ')}. ` +
        'Start it with that master key as well; without it the credentials have to be supplied again.',
    );
  }
}

/** Thrown when a wrapped key was altered, or is not the one that was stored with this key id. */
export class WrappedKeyBroken extends Error {
  override readonly name = 'WrappedKeyBroken';

  constructor(keyId: string, options?: ErrorOptions) {
    super(
      `The key stored under master key ${keyId} does not open with it: it was altered or exchanged in the database. ` +
        'Restore it from a backup, or have the credentials supplied again.',
      options,
    );
  }
}
