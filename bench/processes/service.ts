/** Starts the Company Data Service in its own process, so that its callers do not use its CPU time. */
import type { ChildProgram } from './child-process';
import { startProcessWith } from './child-process';
import type { Usage } from './usage';

export interface ServiceSettings {
  readonly requestsPerMinute: number;
  /** Added to every response. */
  readonly latencyMs?: number;
  /** The duration of a data set's sync, and of each of its records. Default: the sandbox's. */
  readonly syncBaseMs?: number;
  readonly syncMsPerRecord?: number;
}

/** The address of the service, and a key of its only account. */
export interface ServiceAddress {
  readonly url: string;
  /** An administrator's key of a paid account. */
  readonly key: string;
  readonly databaseUrl: string;
}

/** The numbers of requests that the service has answered. */
export interface Answers {
  readonly requests: number;
  /** Responses with 429. */
  readonly refused: number;
  /** Requests for the status of syncs; their number depends on the duration of syncs. */
  readonly statusPolls: number;
}

export type ServiceCalls = {
  readonly start: (settings: ServiceSettings) => Promise<ServiceAddress>;
  readonly counts: (nothing: null) => Promise<Answers>;
  readonly usage: (nothing: null) => Promise<Usage>;
};

export interface MeasuredService extends ServiceAddress {
  answers(): Promise<Answers>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/** Requests per minute. */
export const UNLIMITED = 1_000_000_000;

/** Starts the service as `ferry service start` does, with its log and a durable embedded Postgres. */
export async function startMeasuredService(settings: ServiceSettings): Promise<MeasuredService> {
  return startProcessWith('service-process', async (service: ChildProgram<ServiceCalls>) => {
    const address = await service.ask('start', settings);
    if (settings.latencyMs !== undefined) await injectLatency(address, settings.latencyMs);
    return {
      ...address,
      answers: () => service.ask('counts', null),
      usage: () => service.ask('usage', null),
      stop: () => service.end(),
    };
  });
}

/** Delays every response. See "Faults of the service" in docs/sandbox.md. */
async function injectLatency({ url, key }: ServiceAddress, latencyMs: number): Promise<void> {
  const answer = await fetch(`${url}/sandbox/faults`, {
    method: 'PUT',
    headers: { authorization: `Basic ${Buffer.from(key).toString('base64')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ faults: [{ kind: 'latency', latencyMs }] }),
  });
  if (!answer.ok) throw new Error(`the service refused the faults: ${answer.status} ${await answer.text()}`);
}
