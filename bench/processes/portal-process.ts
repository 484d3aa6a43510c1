/** Runs the portal with its default limits. It trusts the addresses in `X-Forwarded-For`, as behind a proxy. */
import { startPortal } from '../../portal/server';
import { createLog } from '../../security/log';
import { serveParent } from './child-process';
import { collectGarbage } from './heaps';
import type { PortalCalls } from './portal';
import { usage } from './usage';

let stop = async (): Promise<void> => undefined;

const served: PortalCalls = {
  start: async (databaseUrl) => {
    // Logs each request, because the portal of a deployment does so, too.
    const log = createLog({ level: 'info', to: '/dev/null' });
    const portal = await startPortal({ port: 0, databaseUrl, log, trustedProxies: ['127.0.0.1'] });
    stop = () => portal.close();
    return portal.localUrl;
  },
  usage: async () => usage(),
  collectGarbage,
};

serveParent(served, () => stop());
