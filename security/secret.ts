import { inspect } from 'node:util';

/** Replaces a secret in everything that is printed. */
export const MASK = '[secret]';

/**
 * Holds a credential, an API key or a client secret so that it cannot be printed by accident.
 *
 * JSON, template strings, `console.log`, `util.inspect`, errors and pino's log lines show `[secret]`. The value is in a
 * private field, so spreading, `Object.entries` and structured cloning do not copy it. {@link Secret.reveal} is the
 * only way to read it: a search for `.reveal(` lists every use of a secret.
 *
 * It does not protect against code that runs in this process, a core dump or a debugger.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Returns the value, for the one call that needs it. Never put it into a message, a log line or an error. */
  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return MASK;
  }

  toString(): string {
    return MASK;
  }

  /** Covers `+` and comparisons, which would otherwise call `valueOf`. */
  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
