/** The clients of the ledger and of the service with which a run works. */
import { openLedgerClient, type LedgerClient } from '../../client';
import { createCompanyDataClient } from '../../company-data-client';
import { loadConfig } from '../../config';
import type { Platform } from '../../platforms/platforms';
import { Secret } from '../../security';

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
