/** How a run reaches the system under test: clients of the ledger and of the service, and the `ferry` command. */
import { openLedgerClient, type LedgerClient } from '../../client';
import { createCompanyDataClient } from '../../company-data-client';
import { loadConfig } from '../../config';
import type { Platform } from '../../platforms/platforms';
import { Secret } from '../../security';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** Connects to Temporal and to the ledger, does the work, and closes the connections. */
export async function withLedgerClient<T>(
  variables: NodeJS.ProcessEnv,
  work: (ferry: LedgerClient) => Promise<T>,
): Promise<T> {
  const ferry = await openLedgerClient(loadConfig(['temporal', 'databaseUrl', 'payloadKeys'], variables));
  try {
    return await work(ferry);
  } finally {
    await ferry.close();
  }
}

/** Configures the client's application of each platform at the service. */
export async function putApplications(variables: NodeJS.ProcessEnv, platforms: readonly Platform[]): Promise<void> {
  const { url: baseUrl, apiKey } = loadConfig(['service'], variables).service;
  const service = createCompanyDataClient({ baseUrl, apiKey });
  try {
    for (const { key } of platforms) {
      await service.putApplicationCredentials(key, {
        clientId: 'the-clients-own',
        clientSecret: new Secret('the secret of the application'),
        environment: 'production',
      });
    }
  } finally {
    await service.close();
  }
}

/** Larger than any report of a run. */
const MAX_OUTPUT_BYTES = 2 ** 28;
const DIST = path.join(__dirname, '..', '..');

/**
 * Runs `ferry` and returns its output.
 *
 * @param dist the folder of the compiled product; default: that of this build
 * @throws if it ends with an error
 */
export async function runFerry(env: NodeJS.ProcessEnv, args: readonly string[], dist: string = DIST): Promise<string> {
  const command = [path.join(dist, 'cli', 'main.js'), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}
