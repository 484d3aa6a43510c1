import { inspect } from 'node:util';

/** What is shown in the place of every secret, wherever it turns up. */
export const MASK = '[secret]';

/**
 * A value that nobody sees by accident: a credential, an API key, a client secret.
 *
 * In JSON, template strings, `console.log`, `util.inspect`, errors and pino's logs it is `[secret]`. The value lies in
 * a private field, so spreading, `Object.entries` and structured printing find nothing. {@link Secret.reveal} is the
 * only way to it: a search for `.reveal(` lists every place where a secret is used.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself, for the one call that needs it; never for a message, a log or an error. */
  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return MASK;
  }

  toString(): string {
    return MASK;
  }

  /** `valueOf` too would be asked by `+` and by comparisons. */
  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
