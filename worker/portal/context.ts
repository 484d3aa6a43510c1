import type { Logger } from 'pino';
import type { LedgerClient } from '../../client';
import type { RequestAnswer } from '../../portal/contract';
import type { VerifyIdentity } from '../../security';

/** What the portal's loop uses: the worker's own connections. */
export interface PortalContext {
  readonly ferry: LedgerClient;
  readonly namespace: string;
  readonly log: Logger;
  /** For each migration, when this worker last asked for a check of reconnections, in milliseconds of the epoch. */
  readonly reconnectionsAskedAt: Map<string, number>;
  /** Absent if no identity provider is configured. */
  readonly verifyIdentity?: VerifyIdentity | undefined;
}

/** Nothing was done. The text says why. */
export const failed = (text: string): RequestAnswer => ({ outcome: 'failed', text });

/** A request that could not be carried out is taken again after this time. In milliseconds. */
export const AGAIN_AFTER_MS = 5_000;
