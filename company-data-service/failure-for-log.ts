/**
 * What may be logged of something that was thrown. Details that the database adds to an error hold the values of a row:
 * credentials and customers' data too.
 */
export function failureForLog(failure: unknown): Record<string, unknown> {
  if (!(failure instanceof Error)) return { type: typeof failure };
  const { name, message, stack } = failure;
  const cause = failure.cause === undefined ? {} : { cause: failureForLog(failure.cause) };
  return { type: name, message, stack, ...('code' in failure && { code: failure.code }), ...cause };
}
