/** What workflows ask for: everything that touches the ledger, the vault or the Company Data Service. */
import type { CompanyDataClient } from '../company-data-client';
import type { KeyProvider } from '../security';
import type { Database } from '../store';
import { batchActivities } from './batch';
import { courseActivities } from './course';
import { firstCompanyActivities } from './first-company';

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

export function createActivities(deps: ActivityDeps) {
  return { ...courseActivities(deps), ...firstCompanyActivities(deps), ...batchActivities(deps) };
}

export type Activities = ReturnType<typeof createActivities>;
