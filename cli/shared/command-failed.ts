/** Thrown by a command that could not do what was asked. Ends in one line for people and in exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';

  /**
   * @param message what happened, and to what
   * @param advice what to do next
   */
  constructor(
    message: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
