import type { CompanyDataClient } from '../company-data-client';
import type { KeyProvider } from '../security';
import type { Database } from '../store';

/** What activities work with; the worker makes it once, tests make their own. */
export interface ActivityDeps {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly keys: KeyProvider;
  /**
   * After this long every call of an attempt has ended, so that its companies may be taken over: the client's time-out
   * of an authorization and a margin. Milliseconds.
   */
  readonly stalledAfterMs: number;
}
