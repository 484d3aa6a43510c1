/** Starts the portal in its own process, as `ferry up` does, and reads its CPU and memory usage. */
import path from 'node:path';
import { startProcessWith, type ChildProgram } from './child-process';
import type { Heaps } from './heaps';
import type { Usage } from './usage';

export type PortalCalls = {
  /** Starts the portal and returns its address. `databaseUrl` contains the portal's role. */
  readonly start: (databaseUrl: string) => Promise<string>;
  readonly usage: () => Promise<Usage>;
  readonly collectGarbage: () => Promise<Heaps>;
};

export interface MeasuredPortal {
  readonly url: string;
  usage(): Promise<Usage>;
  /** Collects the garbage, which takes a few seconds. */
  collectGarbage(): Promise<Heaps>;
  stop(): Promise<void>;
}

/** @param databaseUrl the URL with which the portal's role connects */
export async function startMeasuredPortal(databaseUrl: string): Promise<MeasuredPortal> {
  return startProcessWith(
    'portal-process',
    async (portal: ChildProgram<PortalCalls>) => ({
      url: await portal.call('start', databaseUrl),
      usage: () => portal.call('usage'),
      collectGarbage: () => portal.call('collectGarbage'),
      stop: () => portal.end(),
    }),
    ['--expose-gc', '--require', path.join(__dirname, 'heaps.js')],
  );
}
