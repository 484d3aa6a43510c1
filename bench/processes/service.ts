/** Starts the Company Data Service in its own process, so that it does not share CPU time with its callers. */
import { startProcessWith, type ChildProgram } from './child-process';

export interface ServiceSettings {
  readonly requestsPerMinute: number;
  /** Delay added to every response. */
  readonly latencyMs?: number;
}

/** A service in its own process: the Company Data Service or the stand-in. */
export interface ServiceUnderTest {
  readonly url: string;
  /** An administrator's key for a paid account, the only account of the service. */
  readonly key: string;
  stop(): Promise<void>;
}

export interface ServiceAddress extends Pick<ServiceUnderTest, 'url' | 'key'> {
  readonly databaseUrl: string;
}

/** The number of requests that the service has answered so far. */
export interface AnswerCounts {
  readonly requests: number;
  /** Requests answered with 429. */
  readonly refused: number;
  /** Requests for the status of syncs. Their number depends on the duration of the syncs. */
  readonly statusPolls: number;
}

export type ServiceCalls = {
  readonly start: (settings: ServiceSettings) => Promise<ServiceAddress>;
  readonly counts: () => Promise<AnswerCounts>;
};

export interface MeasuredService extends ServiceAddress, ServiceUnderTest {
  answers(): Promise<AnswerCounts>;
}

/** Requests per minute that no benchmark reaches. */
export const UNLIMITED = 1_000_000_000;

/** Starts the service as `ferry service start` does, with its log and a durable embedded Postgres. */
export async function startMeasuredService(settings: ServiceSettings): Promise<MeasuredService> {
  return startProcessWith('service-process', async (service: ChildProgram<ServiceCalls>) => {
    const address = await service.call('start', settings);
    if (settings.latencyMs !== undefined) await injectLatency(address, settings.latencyMs);
    return {
      ...address,
      answers: () => service.call('counts'),
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
