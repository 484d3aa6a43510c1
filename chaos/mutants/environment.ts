/** Starts the servers for all mutants: the service, a ledger, and a Temporal dev server with a namespace per mutant. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../stack/folders';
import { startPostgres } from '../../stack/postgres/postgres';
import { serviceDatabaseUrl, startStandaloneService } from '../../stack/service/standalone';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { startTemporal } from '../../stack/temporal/server';
import { putApplications } from '../driver/clients';
import { platformOf } from '../driver/companies';

export interface MutantEnvironment {
  readonly folder: string;
  readonly serviceUrl: string;
  readonly serviceDatabaseUrl: string;
  /** The configuration for `ferry` and for workers, without `TEMPORAL_NAMESPACE`. */
  readonly variables: Readonly<Record<string, string>>;
}

const REQUESTS_PER_MINUTE = 1_000_000;

/** Starts everything, runs the work, then stops and removes everything. */
export async function withMutantEnvironment<T>(
  options: {
    readonly env: NodeJS.ProcessEnv;
    readonly namespaces: readonly string[];
    readonly log: (line: string) => void;
  },
  work: (environment: MutantEnvironment) => Promise<T>,
): Promise<T> {
  const { env, namespaces, log } = options;
  const folder = createTemporaryFolder();
  const running: { stop(): Promise<unknown> }[] = [];
  const started = <Server extends { stop(): Promise<unknown> }>(server: Server): Server => {
    running.unshift(server);
    return server;
  };
  try {
    const settings = { home: folder, temporary: false, faults: false, logLevel: 'warn', log } as const;
    const service = started(await startStandaloneService({ ...settings, requestsPerMinute: REQUESTS_PER_MINUTE }));
    const servers = { ephemeral: false, log, port: 0, uiPort: 0, namespaces };
    const cli = await acquireTemporalCli({ env, log });
    const temporal = started(await startTemporal({ ...servers, dataFolder: path.join(folder, 'temporal'), cli }));
    const postgres = started(await startPostgres({ ...servers, dataFolder: path.join(folder, 'postgres') }));
    const vaultSecrets = path.join(folder, 'vault-secrets');
    mkdirSync(vaultSecrets);
    const variables = {
      TOKENFERRY_HOME: folder,
      TEMPORAL_ADDRESS: temporal.address,
      DATABASE_URL: postgres.url,
      COMPANY_DATA_URL: service.url,
      COMPANY_DATA_API_KEY: service.keys?.administratorKey ?? '',
      TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
      TOKENFERRY_VAULT_SECRETS: vaultSecrets,
      TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
    };
    await putApplications(variables, [platformOf('freshbooks')]);
    return await work({
      ...{ folder, variables, serviceUrl: service.url },
      serviceDatabaseUrl: serviceDatabaseUrl(folder, undefined) ?? '',
    });
  } finally {
    for (const server of running) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
