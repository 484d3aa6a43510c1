import type { Logger } from 'pino';
import type { LedgerClient } from '../../client';
import type { RequestAnswer } from '../../portal/contract/requests';
import type { VerifyIdentity } from '../../security';

/** The worker's own connections and state, with which it handles portal requests. */
export interface PortalContext {
  readonly ferry: LedgerClient;
  readonly namespace: string;
  readonly log: Logger;
  /** For each migration, when this worker last asked for a check of reconnections, in epoch milliseconds. */
  readonly reconnectionsAskedAt: Map<string, number>;
  /** Absent if no identity provider is configured. */
  readonly verifyIdentity?: VerifyIdentity | undefined;
}

/** Returns an answer that says why the request has failed. */
export const failed = (text: string): RequestAnswer => ({ outcome: 'failed', text });

/** Returns the reason of a failure for the log. Leaves out the message, because it can quote a name or a token. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** The delay before a request that could not be carried out is taken again, in milliseconds. */
export const AGAIN_AFTER_MS = 5_000;
