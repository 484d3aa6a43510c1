import type { PortalDatabase } from './database';
import type { IdentityProvider } from './identity-provider';
import type { LiveViews } from './live-views';
import type { PageFiles } from './page-files';
import type { PortalLimits } from './limits';

export interface PortalContext {
  readonly db: PortalDatabase;
  readonly views: LiveViews;
  readonly page: PageFiles;
  readonly limits: PortalLimits;
  /** The origins of the portal's own pages. */
  readonly origins: ReadonlySet<string>;
  /** Absent if people cannot sign in with an account. */
  readonly identityProvider: IdentityProvider | undefined;
  /** Maximum lifetime of a session, in milliseconds. */
  readonly sessionLifetimeMs: number;
  /** How long a request waits for a worker's answer, in milliseconds. */
  readonly answerWaitMs: number;
  /** Returns why the portal cannot work at the moment; null if it can. */
  readonly problem: () => string | null;
}
