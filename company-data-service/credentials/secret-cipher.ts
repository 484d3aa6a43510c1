/**
 * Encrypts the secrets that the service stores: the tokens of connections, and the clients' application secrets.
 *
 * The program that starts the service supplies the cipher, because its keys must not be in the service's database.
 */
export interface SecretCipher {
  /** Id of the newest key. Every output of `encrypt` begins with these bytes. */
  readonly newestKeyId: Buffer;
  /**
   * Encrypts a text under the newest key.
   *
   * @param boundTo identifies the row, so that the output cannot be decrypted in another row
   */
  encrypt(text: string, boundTo: string): Buffer;
  /**
   * Decrypts an output of `encrypt`.
   *
   * @throws Error if the output's key is not known, or if the output was altered or copied from another row
   */
  decrypt(encrypted: Buffer, boundTo: string): string;
}

/** Identifies the row of a connection's tokens. */
export const credentialBinding = (connectionId: string) => `credential/${connectionId}`;

/** Identifies the row of an account's application at a platform. */
export const applicationBinding = (accountId: string, platformKey: string) => `application/${accountId}/${platformKey}`;
