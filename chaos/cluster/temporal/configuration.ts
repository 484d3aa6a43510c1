/** The configuration files of Temporal's server: https://docs.temporal.io/references/configuration */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DYNAMIC_CONFIG } from '../../../stack/temporal/server';
import { TEMPORAL_SERVICES, type TemporalService } from '../types';

/** The ports of one service. The services find each other through the membership ports. */
export interface ServicePorts {
  readonly grpc: number;
  readonly membership: number;
}

/** The names of Temporal's two databases. */
export const DATABASE_NAMES = { default: 'temporal', visibility: 'temporal_visibility' } as const;

/** Added to the settings of the stack's dev server, so that runs do not wait for caches or rate limits. */
const MORE_DYNAMIC_CONFIG = {
  'system.forceSearchAttributesCacheRefreshOnRead': true,
  'frontend.namespaceRPS.visibility': 100,
};

/**
 * Writes the configuration, the same for all four services.
 *
 * @param postgresUrl any database of the server that holds Temporal's databases
 * @returns the folder for the option `--root` of `temporal-server`
 */
export function writeConfiguration(options: {
  readonly folder: string;
  readonly postgresUrl: string;
  readonly ports: Readonly<Record<TemporalService, ServicePorts>>;
}): string {
  const { folder, postgresUrl, ports } = options;
  const { hostname, port, username, password } = new URL(postgresUrl);
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectAddr: `${hostname}:${port}`, connectProtocol: 'tcp' },
      ...{ user: username, password, maxConns, maxIdleConns: maxConns, maxConnLifetime: '1h' },
    },
  });
  const services = Object.fromEntries(
    TEMPORAL_SERVICES.map((name) => [
      name,
      { rpc: { grpcPort: ports[name].grpc, membershipPort: ports[name].membership, bindOnLocalHost: true } },
    ]),
  );
  const frontend = `127.0.0.1:${ports.frontend.grpc}`;
  const dynamicConfigFile = path.join(folder, 'dynamic-configuration.yaml');
  const configuration = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: 4 },
      datastores: { default: store(DATABASE_NAMES.default, 15), visibility: store(DATABASE_NAMES.visibility, 5) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services,
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: frontend },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: frontend },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: '10s' },
  };
  const dynamicConfig = Object.entries({ ...DYNAMIC_CONFIG, ...MORE_DYNAMIC_CONFIG }).map(
    ([name, value]) => [name, [{ value }]] as const,
  );
  // JSON is valid YAML.
  writeFileSync(dynamicConfigFile, JSON.stringify(Object.fromEntries(dynamicConfig), null, 2));
  writeFileSync(path.join(folder, 'cluster.yaml'), JSON.stringify(configuration, null, 2), { mode: 0o600 });
  return folder;
}
