/**
 * The value of a payload that cannot be decoded. A message with this value is refused like any other malformed message.
 * Only the payload converter and the workflow's interceptor create it, so no sender can imitate it.
 */
export class UnreadablePayload {
  /**
   * @param unreadable the reason, for people
   * @param missingKey the id of the payload key that this worker does not have; null if no key would help
   */
  constructor(
    readonly unreadable: string,
    readonly missingKey: string | null = null,
  ) {}
}
