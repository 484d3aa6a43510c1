/** Decides whether a worker that cannot start should wait, or should end because waiting cannot help. */
import { DatabaseUnavailable } from '../store';
import { TemporalUnreachable } from './index';

/** gRPC status codes of a server that is down or overloaded: deadline exceeded, resource exhausted, unavailable. */
const OUTAGE_STATUS: ReadonlySet<unknown> = new Set([4, 8, 14]);

/** A wrong certificate or API key looks to the SDK like a broken connection, but waiting does not correct it. */
const WRONG_CONFIGURATION = /certificate|unauthenticated|permission ?denied|UnknownIssuer|InvalidDnsName/i;

/** Returns why a worker that could not start should wait for Temporal or Postgres; null if waiting cannot help. */
export function reasonToWait(error: unknown): string | null {
  if (error instanceof DatabaseUnavailable) return error.isOutage ? error.message : null;
  if (error instanceof TemporalUnreachable) {
    return WRONG_CONFIGURATION.test(String(error.cause)) ? null : error.message;
  }
  const isOutage = error instanceof Error && 'code' in error && OUTAGE_STATUS.has(error.code);
  return isOutage ? `Temporal does not answer: ${error.message}` : null;
}
