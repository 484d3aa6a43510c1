/** A Company Data Service to be measured: in a process of its own, so that whoever asks it does not take its time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export interface ServiceLimit {
  readonly requestsPerMinute: number;
}

/** Where a measured service is, and the only account's way in. */
export interface ServiceAddress {
  readonly url: string;
  /** An administrator's, of an account that is paid for. */
  readonly key: string;
  readonly databaseUrl: string;
}

export interface MeasuredService extends ServiceAddress {
  stop(): Promise<void>;
}

/** Starts the service as `ferry service start` does, with its log and an embedded Postgres that loses nothing. */
export async function startMeasuredService(limit: ServiceLimit): Promise<MeasuredService> {
  const service = fork(path.join(__dirname, 'service-process.js'), {
    // What a benchmark finds is all that it prints on standard output.
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
  });
  const exited = once(service, 'exit');
  service.send(limit);
  const [address] = (await Promise.race([once(service, 'message'), diedEarly(exited)])) as [ServiceAddress];
  return {
    ...address,
    async stop() {
      if (service.connected) service.disconnect();
      await exited;
    },
  };
}

async function diedEarly(exited: Promise<unknown>): Promise<never> {
  await exited;
  throw new Error('the service did not start');
}
