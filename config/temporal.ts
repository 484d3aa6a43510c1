/** Reads the connection settings for Temporal. */
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import type { RunningStack } from './running-stack';

/** Connection settings for clients and workers. */
export interface TemporalConfig {
  /** `host:port` */
  address: string;
  namespace: string;
  /** Address, TLS, API key and headers, in the form that `Connection.connect` and `NativeConnection.connect` accept. */
  connectionOptions: ClientConnectConfig['connectionOptions'];
}

/**
 * Returns whether the environment selects a Temporal server other than the running stack's. A profile counts as another
 * server.
 */
export function targetsOtherTemporal(env: Readonly<Record<string, string>>, stack: RunningStack): boolean {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_PROFILE: profile } = env;
  return profile !== undefined || (address !== undefined && address !== stack.temporal.address);
}

/**
 * Reads the same settings as Temporal's own tools: the `TEMPORAL_*` variables and a profile of the configuration file.
 * The running stack takes precedence over the default profile, because its database belongs to its own Temporal.
 *
 * @returns undefined if no address is configured, or if a problem was added to `problems`
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
  let loaded: ClientConnectConfig;
  try {
    loaded = loadClientConnectConfig({ overrideEnvVars: env });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`Temporal's configuration (TEMPORAL_* variables, profile) cannot be read: ${reason}`);
    return undefined;
  }
  const { address } = loaded.connectionOptions;
  if (address === undefined) return undefined;
  return {
    address,
    namespace: loaded.namespace ?? 'default',
    connectionOptions: loaded.connectionOptions,
  };
}
