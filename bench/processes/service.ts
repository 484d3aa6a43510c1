/** A Company Data Service to be measured: in a process of its own, so that whoever asks it does not take its time. */
import type { OwnProcess } from './child-process';
import { startProcessWith } from './child-process';
import type { Usage } from './usage';

export interface ServiceSettings {
  readonly requestsPerMinute: number;
  /** Every answer comes so much later. */
  readonly latencyMs?: number;
  /** How long a data set's sync takes, and each record of it. Default: as the sandbox has it. */
  readonly syncBaseMs?: number;
  readonly syncMsPerRecord?: number;
}

/** Where a measured service is, and the only account's way in. */
export interface ServiceAddress {
  readonly url: string;
  /** An administrator's, of an account that is paid for. */
  readonly key: string;
  readonly databaseUrl: string;
}

/** How many requests the service has answered. */
export interface Answers {
  readonly requests: number;
  /** With 429. */
  readonly refused: number;
  /** Those that asked how far syncs are: as many as they take long. */
  readonly looks: number;
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

/** More than anybody asks. */
export const UNLIMITED = 1_000_000_000;

/** Starts the service as `ferry service start` does, with its log and an embedded Postgres that loses nothing. */
export async function startMeasuredService(settings: ServiceSettings): Promise<MeasuredService> {
  return startProcessWith('service-process', async (service: OwnProcess<ServiceCalls>) => {
    const address = await service.ask('start', settings);
    if (settings.latencyMs !== undefined) await delayAnswers(address, settings.latencyMs);
    return {
      ...address,
      answers: () => service.ask('counts', null),
      usage: () => service.ask('usage', null),
      stop: () => service.end(),
    };
  });
}

/** See "Faults of the service" in docs/sandbox.md. */
async function delayAnswers({ url, key }: ServiceAddress, latencyMs: number): Promise<void> {
  const answer = await fetch(`${url}/sandbox/faults`, {
    method: 'PUT',
    headers: { authorization: `Basic ${Buffer.from(key).toString('base64')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ faults: [{ kind: 'latency', latencyMs }] }),
  });
  if (!answer.ok) throw new Error(`the service takes no faults: ${answer.status} ${await answer.text()}`);
}
