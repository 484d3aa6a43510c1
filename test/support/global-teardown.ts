import { servers } from './servers';

/** Stops what the tests shared. Were the run killed instead, the servers would end by themselves: see dev/leash.mjs. */
export default async function globalTeardown(): Promise<void> {
  for (const server of servers.reverse()) await server.stop();
}
