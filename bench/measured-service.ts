/** A Company Data Service to be measured: embedded Postgres, and the service as a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createAccount, createKey, type ServiceOptions } from '../company-data-service';
import { startPostgres } from '../dev/postgres';
import { createTemporaryFolder } from '../dev/temporary-folder';

export interface MeasuredService {
  readonly url: string;
  /** Of an administrator, of an account that is paid for. */
  readonly key: string;
  readonly accountId: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

export async function startMeasuredService(some: Partial<ServiceOptions> = {}): Promise<MeasuredService> {
  const postgres = await startPostgres({
    dataFolder: createTemporaryFolder(),
    port: 0,
    ephemeral: true,
    log: (line) => void process.stderr.write(`${line}\n`),
  });
  const service = fork(path.join(__dirname, 'service-process.js'));
  const stop = async (): Promise<void> => {
    if (service.connected) {
      service.disconnect();
      await once(service, 'exit');
    }
    await postgres.stop();
  };
  try {
    service.send({ databaseUrl: postgres.url, ...some });
    const [{ url }] = (await Promise.race([once(service, 'message'), diedEarly(service)])) as [{ url: string }];
    const accountId = await createAccount(postgres.url, { name: 'Measured', plan: 'paid' });
    const { key } = await createKey(postgres.url, { accountId, role: 'administrator' });
    return { url, key, accountId, databaseUrl: postgres.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function diedEarly(service: ReturnType<typeof fork>): Promise<never> {
  await once(service, 'exit');
  throw new Error('the service did not start');
}
