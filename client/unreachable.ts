/** Thrown when something the command needs does not answer: which, and where it was looked for. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor(
    readonly what: 'Temporal' | 'Postgres',
    readonly where: string,
    options?: ErrorOptions,
  ) {
    super(`${what} does not answer at ${where}`, options);
  }
}
