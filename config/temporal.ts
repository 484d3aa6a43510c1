import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import type { RunningStack } from './running-stack';

/** How a Temporal server is reached, by a client and by a worker alike. */
export interface TemporalConfig {
  /** Host and port. */
  address: string;
  namespace: string;
  /** Address, TLS, API key and headers, as `Connection.connect` and `NativeConnection.connect` take them. */
  connectionOptions: ClientConnectConfig['connectionOptions'];
}

/**
 * Reads what Temporal's own tools read: the `TEMPORAL_*` variables, then the profile of its configuration file. Where
 * neither names a server, the running stack's is used.
 */
export function readTemporal(
  env: Record<string, string>,
  stack: RunningStack | undefined,
  problems: string[],
): TemporalConfig | undefined {
  let found: ClientConnectConfig;
  try {
    found = loadClientConnectConfig({ overrideEnvVars: env });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`Temporal's configuration (TEMPORAL_* variables, profile) cannot be read: ${reason}`);
    return undefined;
  }
  const address = found.connectionOptions.address ?? stack?.temporal.address;
  if (address === undefined) return undefined;
  return {
    address,
    namespace: found.namespace ?? stack?.temporal.namespace ?? 'default',
    connectionOptions: { ...found.connectionOptions, address },
  };
}
