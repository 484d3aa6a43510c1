/** Recognizes errors of a database that is down, which waiting can cure. */

/** The codes of Node.js for a server that cannot be reached, and those of Postgres's classes 08, 53 and 57. */
const OUTAGE_CODE =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|ETIMEDOUT|EHOST(?:UNREACH|DOWN)|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ENOENT|(?:08|53|57)...)$/;

/**
 * Returns whether the database cannot be reached, is starting or stopping, or has no free connection. Returns false if
 * it refuses the password, does not have the database or rejects a statement.
 */
export function isDatabaseOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseOutage);
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string') return OUTAGE_CODE.test(error.code);
  return /^Connection terminated|^Client has encountered a connection error|timeout/.test(error.message);
}
