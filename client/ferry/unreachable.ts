/** Thrown when something the command needs does not answer: which, where it was looked for, and how to start it. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor(
    readonly what: 'Temporal' | 'Postgres',
    readonly where: string,
    options?: ErrorOptions,
  ) {
    super(`${what} does not answer at ${where}; start it, or start everything with: ferry up`, options);
  }
}
