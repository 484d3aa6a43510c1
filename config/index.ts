/** Reads and validates the configuration of a process. */
import { Secret } from '../security';
import { withoutUnsafeCharacters } from '../domain/text/untrusted-text';
import { homeFolder, parseListenAddress, readEnvironment, withoutEmpty, type Environment } from './environment';
import { findVaultSecretsFolder, readKeys, readSigningKey } from './keys';
import {
  PARTS,
  type ClientUiConfig,
  type Config,
  type ConfigPartName,
  type OpenIdConfig,
  type Parts,
  type ServiceConfig,
  type WebhookConfig,
} from './parts';
import { hasRunStack, readRunningStack, stackFile, type RunningStack } from './running-stack';
import { readSecretFiles } from './secret-files';
import { readTemporal, targetsOtherTemporal } from './temporal';

export { parseListenAddress, type ListenAddress } from './environment';
export { signingKeyFile } from './keys';
export type { Config, ConfigPartName } from './parts';
export {
  isAlive,
  readRunningStack,
  removeRunningStack,
  stackFile,
  writeRunningStack,
  type RunningStack,
} from './running-stack';
export type { TemporalConfig } from './temporal';

/** Thrown when the configuration is invalid or incomplete. The message lists every problem and what to do about it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  readonly problems: readonly string[];

  /** Removes unsafe characters from the problems, because they can quote paths from the environment. */
  constructor(problems: readonly string[]) {
    const lines = problems.map(withoutUnsafeCharacters);
    super(lines.join('\n'));
    this.problems = lines;
  }
}

/**
 * Reads the configuration. Environment variables take precedence over the running stack (`ferry up`). For Temporal, see
 * {@link readTemporal}. If the environment points to another Temporal server, the running stack is ignored, because its
 * database and keys belong only to its own Temporal.
 *
 * @param required parts that must be configured
 * @param env the environment variables
 * @param optional parts that are used if they are configured; parts in neither list are ignored, even if invalid
 * @throws {ConfigurationError} with all problems
 */
export function loadConfig<RequiredPart extends ConfigPartName = never, OptionalPart extends ConfigPartName = never>(
  required: readonly RequiredPart[],
  env: NodeJS.ProcessEnv = process.env,
  optional: readonly OptionalPart[] = [],
): Config<RequiredPart> & Partial<Pick<Parts, OptionalPart>> {
  const unknown = [...required, ...optional].filter((part) => !Object.hasOwn(PARTS, part));
  if (unknown.length > 0)
    throw new ConfigurationError(
      unknown.map(
        (part) => `Unknown part of the configuration: ${part}. The parts are: ${Object.keys(PARTS).join(', ')}.`,
      ),
    );
  const problems: string[] = [];
  const relevant = new Set<string>(['TOKENFERRY_HOME', 'TOKENFERRY_LOG_LEVEL']);
  for (const part of [...required, ...optional]) for (const variable of PARTS[part].variables) relevant.add(variable);
  const { variables, unusable } = readSecretFiles(withoutEmpty(env), relevant, problems);
  const { environment, invalid } = readEnvironment(
    Object.fromEntries(Object.entries(variables).filter(([name]) => relevant.has(name))),
    problems,
  );
  const home = homeFolder(environment.TOKENFERRY_HOME);
  const running = readRunningStack(home);
  const stack = running && targetsOtherTemporal(variables, running) ? undefined : running;

  const readers: { [P in ConfigPartName]: () => Parts[P] | undefined } = {
    temporal: () => readTemporal(variables, stack, problems),
    databaseUrl: () => secretOf(environment.DATABASE_URL ?? stack?.databaseUrl),
    portalDatabaseUrl: () => secretOf(environment.PORTAL_DATABASE_URL ?? stack?.portalDatabaseUrl),
    portalUrl: () => environment.TOKENFERRY_PORTAL_URL ?? stack?.portalUrl,
    openId: () => readOpenId(environment, problems),
    openIdSecret: () => secretOf(environment.TOKENFERRY_OPENID_CLIENT_SECRET),
    service: () => readService(environment, stack, problems),
    masterKeys: () => readKeys(environment, 'master key', problems, stack?.masterKeyFile),
    vaultSecrets: () => findVaultSecretsFolder(environment, stack?.vaultSecretsFolder, problems),
    payloadKeys: () => readKeys(environment, 'payload key', problems, stack?.payloadKeyFile),
    serviceKeys: () => readKeys(environment, 'service key', problems),
    signingKey: () => readSigningKey(environment, home, problems),
    providerFingerprint: () => environment.TOKENFERRY_PROVIDER_FINGERPRINT ?? stack?.providerFingerprint,
    webhook: () => readWebhook(environment, problems),
    stackCodecUrl: () => stack?.codecUrl,
    runningStack: () =>
      running && {
        isUsed: stack !== undefined,
        isDatabaseExternal: running.isDatabaseExternal ?? false,
        databaseUrl: new Secret(running.databaseUrl),
      },
    clientUi: () => readClientUi(environment, variables, stack),
    metricsMigrations: () => Number(environment.TOKENFERRY_METRICS_MIGRATIONS ?? 0),
    healthAddress: () => parseListenAddress(environment.TOKENFERRY_HEALTH_ADDRESS ?? '') ?? undefined,
    workerDeployment: () => environment.TEMPORAL_DEPLOYMENT_NAME ?? environment.TOKENFERRY_WORKER_DEPLOYMENT,
    tracing: () => readTracing(environment),
    workerBuildId: () => environment.TEMPORAL_WORKER_BUILD_ID,
  };
  const parts: Partial<Parts> = {};
  const missing: ConfigPartName[] = [];
  for (const part of [...required, ...optional]) {
    if (PARTS[part].variables.some((variable) => invalid.has(variable) || unusable.has(variable))) continue;
    const problemsBefore = problems.length;
    const value = readers[part]();
    if (value !== undefined) Object.assign(parts, { [part]: value });
    else if (problems.length === problemsBefore && required.some((requiredPart) => requiredPart === part))
      missing.push(part);
  }
  if (missing.length > 0) problems.push(missingMessage(missing, home, { running, stack, variables }));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { home, logLevel: environment.TOKENFERRY_LOG_LEVEL, ...parts } as Config<RequiredPart> &
    Partial<Pick<Parts, OptionalPart>>;
}

/** The parts that a command can require although no stack provides them. */
const NOT_IN_A_STACK: readonly ConfigPartName[] = ['openId', 'serviceKeys'];

interface StackSearch {
  readonly running: RunningStack | undefined;
  /** The running stack if its configuration is used; otherwise undefined. */
  readonly stack: RunningStack | undefined;
  /** The environment variables. */
  readonly variables: Readonly<Record<string, string>>;
}

function missingMessage(
  missing: readonly ConfigPartName[],
  home: string,
  { running, stack, variables }: StackSearch,
): string {
  const names = missing.map((part) => PARTS[part].name).join(', ');
  const notInAStack = missing.filter((part) => NOT_IN_A_STACK.includes(part));
  if (notInAStack.length > 0) {
    const what = notInAStack.length === missing.length ? 'it' : 'all of it';
    return `Not configured: ${names}. Configure what is missing, because ferry up does not provide ${what}.`;
  }
  if (running === undefined) {
    const { TEMPORAL_ADDRESS: address, TEMPORAL_PROFILE: profile } = variables;
    const selectsTemporal = address !== undefined || profile !== undefined;
    if (hasRunStack(home) && !selectsTemporal)
      return `No stack is running in ${home}; start it with: ferry up; to use other servers instead, configure ${names}.`;
    const none = `No stack is running on this machine, according to ${stackFile(home)}.`;
    // With these variables, the configuration of a stack would be ignored.
    const unset = selectsTemporal ? 'unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE, and then ' : '';
    return `Not configured: ${names}. ${none} Configure what is missing, or ${unset}start a stack with: ferry up`;
  }
  const notProvided = stack === undefined ? missing.filter((part) => isNotProvided(running, part)) : missing;
  if (notProvided.length > 0) {
    const what = notProvided.length === missing.length ? 'it' : 'all of it';
    return `Not configured: ${names}. Configure what is missing, because the running stack does not provide ${what}.`;
  }
  const why = 'because TEMPORAL_ADDRESS points to another Temporal server, or TEMPORAL_PROFILE is set';
  const next = 'Configure what is missing, or unset both variables to use the running stack.';
  return `Not configured: ${names}. The running stack is not used, ${why}. ${next}`;
}

/** Returns whether a stack can provide the part, but the running stack does not. */
function isNotProvided(running: RunningStack, part: ConfigPartName): boolean {
  return (part === 'portalUrl' || part === 'portalDatabaseUrl') && running[part] === undefined;
}

function secretOf(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value);
}

/** Returns true if OpenTelemetry's standard variables turn traces on; otherwise undefined. */
function readTracing(environment: Environment): true | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint } = environment;
  const { OTEL_SDK_DISABLED: isDisabled, OTEL_TRACES_EXPORTER: exporter } = environment;
  if ((endpoint ?? tracesEndpoint) === undefined || isDisabled === 'true' || exporter === 'none') return undefined;
  return true;
}

/**
 * Reads the address of the Web UI for clients. The running stack's UI has migration links only in the stack's own
 * namespace.
 */
function readClientUi(
  { TOKENFERRY_CLIENT_UI_URL: url }: Environment,
  { TEMPORAL_NAMESPACE: namespace }: Readonly<Record<string, string>>,
  stack: RunningStack | undefined,
): ClientUiConfig | undefined {
  if (url !== undefined) return { url, hasMigrationLinks: false };
  if (stack?.clientUiUrl === undefined) return undefined;
  return {
    url: stack.clientUiUrl,
    hasMigrationLinks: namespace === undefined || namespace === stack.temporal.namespace,
  };
}

/** Reads the webhook. URL and secret must be set together, because the receiver can verify only signed notices. */
function readWebhook(environment: Environment, problems: string[]): WebhookConfig | undefined {
  const pair = pairOf(environment, 'TOKENFERRY_WEBHOOK_URL', 'TOKENFERRY_WEBHOOK_SECRET', problems);
  if (pair === null) return {};
  return pair && { target: { url: pair[0], secret: new Secret(pair[1]) } };
}

/** Reads the identity provider. */
function readOpenId(environment: Environment, problems: string[]): OpenIdConfig | undefined {
  const pair = pairOf(environment, 'TOKENFERRY_OPENID_ISSUER', 'TOKENFERRY_OPENID_CLIENT_ID', problems);
  return pair ? { issuer: pair[0], clientId: pair[1] } : undefined;
}

/**
 * Reads the service's URL and API key from one source, so that the running stack's key is never sent to another
 * service.
 */
function readService(
  environment: Environment,
  stack: RunningStack | undefined,
  problems: string[],
): ServiceConfig | undefined {
  const pair = pairOf(environment, 'COMPANY_DATA_URL', 'COMPANY_DATA_API_KEY', problems);
  if (pair === null) return stack && { url: stack.service.url, apiKey: new Secret(stack.service.apiKey) };
  return pair && { url: pair[0], apiKey: new Secret(pair[1]) };
}

/**
 * Returns the values of two variables that must be set together; null if neither is set. Returns undefined and adds a
 * problem if only one is set.
 */
function pairOf(
  environment: Environment,
  one: keyof Environment,
  other: keyof Environment,
  problems: string[],
): readonly [string, string] | null | undefined {
  const [first, second] = [environment[one], environment[other]];
  if (first !== undefined && second !== undefined) return [first, second];
  if (first === undefined && second === undefined) return null;
  const [set, missing] = first === undefined ? [other, one] : [one, other];
  problems.push(`${set} is set, but ${missing} is not. Set both or neither.`);
  return undefined;
}
