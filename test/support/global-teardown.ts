import { assertIdsUsedOnce, testNamespaces, type JestRun } from './namespaces';
import { offeredServers } from './shared-servers';

/** Stops the shared servers. If the run is killed, their supervisors stop them: see stack/process/supervisor.mjs. */
export default async function globalTeardown({ maxWorkers }: JestRun): Promise<void> {
  const servers = offeredServers();
  try {
    const address = await servers?.temporalAddress();
    if (address !== undefined) await assertIdsUsedOnce(address, testNamespaces(maxWorkers));
  } finally {
    await servers?.stop();
  }
}
