import { assertIdsUsedOnce } from './namespaces';
import { servers } from './servers';

/** Stops what the tests shared. Were the run killed instead, the servers would end by themselves: see stack/process/supervisor.mjs. */
export default async function globalTeardown(): Promise<void> {
  try {
    await assertIdsUsedOnce(process.env['TOKENFERRY_TEST_TEMPORAL'] ?? '');
  } finally {
    for (const server of servers.reverse()) await server.stop();
  }
}
