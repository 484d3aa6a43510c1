/** Starts the stand-in for the Company Data Service in its own process. See stand-in-process.ts. */
import { startProcessWith, type ChildProgram } from './child-process';
import type { ServiceUnderTest } from './service';
import type { Usage } from './usage';

export interface StandInSettings {
  /** Default: more than any benchmark reaches. */
  readonly requestsPerMinute?: number;
  /** Delay of every response. Default: 0. */
  readonly latencyMs?: number;
  /** Duration of the syncs of a company. Default: 0. */
  readonly syncMs?: number;
}

/** The requests since the start or the last reset. */
export interface RequestCounts {
  /** By method and path, with `{id}` for each id. */
  readonly routes: Readonly<Record<string, number>>;
  /** The number of companies by their number of requests: `{ '8': 3000 }`. */
  readonly perCompany: Readonly<Record<string, number>>;
  /** Requests answered with 429. */
  readonly refused: number;
  /** Authorizations of connections that were already linked. */
  readonly authorizedTwice: number;
  readonly connections: number;
  readonly maxInFlight: number;
}

export type StandInCalls = {
  /** Returns the URL. */
  readonly start: (settings: StandInSettings) => Promise<string>;
  readonly setLatency: (latencyMs: number) => Promise<void>;
  readonly reset: () => Promise<void>;
  readonly counts: () => Promise<RequestCounts>;
  readonly usage: () => Promise<Usage>;
};

export interface StandIn extends ServiceUnderTest {
  counts(): Promise<RequestCounts>;
  /** Forgets all companies and requests. */
  reset(): Promise<void>;
  setLatency(latencyMs: number): Promise<void>;
  usage(): Promise<Usage>;
}

export async function startStandIn(settings: StandInSettings = {}): Promise<StandIn> {
  return startProcessWith('stand-in-process', async (process: ChildProgram<StandInCalls>) => ({
    url: await process.call('start', settings),
    key: 'the stand-in accepts any key',
    counts: () => process.call('counts'),
    reset: () => process.call('reset'),
    setLatency: (latencyMs) => process.call('setLatency', latencyMs),
    usage: () => process.call('usage'),
    stop: () => process.end(),
  }));
}
