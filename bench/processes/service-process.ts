/** Runs `ferry service start` with the settings of a benchmark. Removes its data when the parent disconnects. */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { rmSync } from 'node:fs';
import { serviceDatabaseUrl, startStandaloneService } from '../../stack/service/standalone';
import { createTemporaryFolder } from '../../stack/folders';
import type { ServiceAddress, ServiceCalls, ServiceSettings } from './service';
import { serveParent } from './child-process';

const home = createTemporaryFolder();
let requests = 0;
let refused = 0;
let statusPolls = 0;
let stop = async (): Promise<void> => undefined;

// Count responses with Node's diagnostics channel, because a proxy would affect the measurement.
subscribe('http.server.response.finish', (message) => {
  const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
  requests += 1;
  if (response.statusCode === 429) refused += 1;
  if (request.url?.endsWith('/dataStatus')) statusPolls += 1;
});

/** Syncs take as long as those of `ferry service start`: 150 ms for a data set, and 10 ms for each of its records. */
async function start({ requestsPerMinute, latencyMs }: ServiceSettings): Promise<ServiceAddress> {
  // The database is not temporary, because a temporary one does not wait for the disk.
  const service = await startStandaloneService({
    home,
    temporary: false,
    faults: latencyMs !== undefined,
    requestsPerMinute,
    logLevel: 'info',
    log: (line) => void process.stderr.write(`${line}\n`),
  });
  stop = () => service.stop();
  const { administratorKey: key = '' } = service.keys ?? {};
  return { url: service.url, key, databaseUrl: serviceDatabaseUrl(home, undefined) ?? '' };
}

const served: ServiceCalls = {
  start,
  counts: async () => ({ requests, refused, statusPolls }),
};

serveParent(served, async () => {
  try {
    await stop();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
