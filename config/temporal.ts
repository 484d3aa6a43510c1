/** Reads the connection settings for Temporal. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { types } from 'node:util';
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
 * If the running stack is used and `TEMPORAL_ADDRESS` is not set, reads only `TEMPORAL_NAMESPACE`, and takes all other
 * settings from the stack, because the stack's database belongs to the stack's own Temporal.
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
    problems.push(`${SOURCES} cannot be read: ${reasonOf(error, env)}`);
    return undefined;
  }
  const { namespace = 'default', connectionOptions } = loaded;
  const { address, apiKey, metadata } = connectionOptions;
  const wrong = [
    ...(isTextOrAbsent(address) ? [] : ['address must be text that is not empty']),
    ...(isTextOrAbsent(namespace) ? [] : ['namespace must be text that is not empty']),
    // The API key is sent in a header. The message does not quote the key, because it is a secret.
    ...(isHeaderText(apiKey)
      ? []
      : ['api_key must be one line of ASCII text, not empty, and without spaces at either end']),
    ...Object.entries(metadata ?? {})
      .filter(([name, value]) => !/^[a-z\d_.-]+$/.test(name) || name.endsWith('-bin') || !isHeaderText(value))
      .map(
        ([name]) =>
          `the gRPC header ${JSON.stringify(name)} is invalid. The name may contain only a-z, 0-9, "-", "_" and ".", and must not end with "-bin". The value must be one line of ASCII text, not empty, and without spaces at either end`,
      ),
  ];
  problems.push(...wrong.map((what) => `${SOURCES}: ${what}.`));
  if (wrong.length > 0 || address === undefined) return undefined;
  return { address, namespace, connectionOptions };
}

const SOURCES = "Temporal's configuration (TEMPORAL_* variables, profile)";

/**
 * Returns whether a value is absent, or a text that is not empty. A value can be of any type, because a profile is read
 * from TOML without a check of its types.
 */
const isTextOrAbsent = (value: unknown): boolean => value === undefined || (typeof value === 'string' && value !== '');

const isHeaderText = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^[!-~](?:[ -~]*[!-~])?$/.test(value));

/**
 * Returns why the configuration cannot be read, with the file if the problem is in the file, and the line if known.
 * Returns only the first line of the message, because the other lines quote the file, which can contain an API key.
 */
function reasonOf(error: unknown, env: Readonly<Record<string, string>>): string {
  const [first = ''] = (types.isNativeError(error) ? error.message : String(error)).split('\n');
  const file = configFile(env);
  if (file === undefined) return first;
  if (typeof error === 'object' && error !== null && 'line' in error)
    return `${file}, line ${String(error.line)}: ${first}. Correct the file.`;
  const [, profile] = /^Profile '(.*)' not found/.exec(first) ?? [];
  if (profile === undefined) return first.startsWith('Validation error') ? `${file}: ${first}` : first;
  return existsSync(file)
    ? `${file} has no profile ${profile}. Correct TEMPORAL_PROFILE, or add [profile.${profile}] to the file.`
    : `there is no file ${file}. Unset TEMPORAL_PROFILE, set TEMPORAL_CONFIG_FILE to an existing file, or create the file with a section [profile.${profile}].`;
}

/** Returns the file from which Temporal's tools read profiles; undefined if the user's folder is unknown. */
function configFile(env: Readonly<Record<string, string>>): string | undefined {
  if (env['TEMPORAL_CONFIG_FILE'] !== undefined) return env['TEMPORAL_CONFIG_FILE'];
  const { HOME: home, APPDATA: appData, XDG_CONFIG_HOME: configHome } = env;
  const inHome = (...folders: readonly string[]) => (home === undefined ? undefined : path.join(home, ...folders));
  const folder =
    process.platform === 'win32'
      ? appData
      : process.platform === 'darwin'
        ? inHome('Library', 'Application Support')
        : (configHome ?? inHome('.config'));
  return folder === undefined ? undefined : path.join(folder, 'temporalio', 'temporal.toml');
}
