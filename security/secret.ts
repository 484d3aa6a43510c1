/** Keeps secrets out of all output, and creates the portal's tokens. */
import { createHash, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/** The text that replaces a secret in all output. */
export const MASK = '[secret]';

/**
 * Wraps a credential, an API key or a client secret so that it cannot be printed by accident.
 *
 * JSON, template strings, `console.log`, `util.inspect`, errors and pino's log lines show `[secret]`. The value is in a
 * private field, so spreading, `Object.entries` and structured cloning do not copy it. {@link Secret.reveal} is the
 * only way to read the value, so a search for `.reveal(` finds every use of a secret.
 *
 * A `Secret` does not protect its value from other code in this process, a core dump or a debugger.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Returns the value for the call that needs it. Never put the value into a message, a log line or an error. */
  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return MASK;
  }

  toString(): string {
    return MASK;
  }

  /** Returns the mask for `+` and comparisons too, which would otherwise call `valueOf` before `toString`. */
  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/**
 * Returns a new token of the portal, for an invitation, a session or a sign-in at an identity provider: 32 random
 * bytes, 43 characters of base64url.
 */
export function createPortalToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Returns the SHA-256 of a token's text. The database contains only this hash of a token. The hash needs no salt and no
 * stretching, because a token has 256 random bits.
 */
export function hashPortalToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
