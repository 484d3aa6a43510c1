/** `ferry service start` with a limit to measure at, for its parent: it ends, and leaves nothing, when that lets go. */
import { rmSync } from 'node:fs';
import { serviceDatabaseUrl, startServiceAlone } from '../dev/service-alone';
import { createTemporaryFolder } from '../dev/temporary-folder';
import type { ServiceAddress, ServiceLimit } from './measured-service';

async function main({ requestsPerMinute }: ServiceLimit): Promise<void> {
  const home = createTemporaryFolder();
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  try {
    // Not `temporary`: a database that never waits for its disk would be measured.
    const service = await startServiceAlone({
      home,
      temporary: false,
      faults: false,
      requestsPerMinute,
      logLevel: 'info',
      log: (line) => void process.stderr.write(`${line}\n`),
    });
    const end = (): void => void service.stop().finally(remove);
    if (!process.connected) return end();
    process.once('disconnect', end);
    const { administratorKey: key = '' } = service.keys ?? {};
    const address: ServiceAddress = { url: service.url, key, databaseUrl: serviceDatabaseUrl(home, undefined) ?? '' };
    process.send?.(address);
  } catch (error) {
    remove();
    throw error;
  }
}

// A terminal's Ctrl-C reaches this process too; the parent's end is what ends it.
process.on('SIGINT', () => undefined);
process.once('message', (limit: ServiceLimit) => {
  main(limit).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
});
