/** Recognizes database errors that waiting can cure. */

/** Node.js's codes for a server that cannot be reached, and the codes in Postgres's classes 08, 53 and 57. */
const OUTAGE_CODE =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|ETIMEDOUT|EHOST(?:UNREACH|DOWN)|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ENOENT|(?:08|53|57)...)$/;

/**
 * Returns whether the database cannot be reached, is starting or stopping, cancels a statement, or has no free
 * connection, memory or disk space. Returns false if the server refuses the password, does not have the database or
 * rejects a statement.
 */
export function isDatabaseOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseOutage);
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string') return OUTAGE_CODE.test(error.code);
  return /^Connection terminated|^Client has encountered a connection error|timeout/.test(error.message);
}
