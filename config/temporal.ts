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

/** Whether somebody has said which Temporal is meant, and it is not that of the running stack. */
export function isAnotherTemporal(env: Readonly<Record<string, string>>, stack: RunningStack): boolean {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_PROFILE: profile } = env;
  return profile !== undefined || (address !== undefined && address !== stack.temporal.address);
}

/**
 * Reads what Temporal's own tools read: the `TEMPORAL_*` variables, and the profile of its configuration file. A running
 * stack comes before a profile that nobody asked for: its database and another Temporal do not belong together.
 */
export function readTemporal(
  env: Record<string, string>,
  stack: RunningStack | undefined,
  problems: string[],
): TemporalConfig | undefined {
  if (stack && env['TEMPORAL_ADDRESS'] === undefined) {
    const { address } = stack.temporal;
    const namespace = env['TEMPORAL_NAMESPACE'] ?? stack.temporal.namespace;
    return { address, namespace, connectionOptions: { address } };
  }
  let found: ClientConnectConfig;
  try {
    found = loadClientConnectConfig({ overrideEnvVars: env });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`Temporal's configuration (TEMPORAL_* variables, profile) cannot be read: ${reason}`);
    return undefined;
  }
  const { address } = found.connectionOptions;
  if (address === undefined) return undefined;
  return {
    address,
    namespace: found.namespace ?? 'default',
    connectionOptions: found.connectionOptions,
  };
}
