/** Reads and validates the configuration of a process. */
import {
  parseMasterKeys,
  parsePayloadKeys,
  parseServiceKeys,
  Secret,
  type KeyRing,
  type SigningKey,
} from '../security';
import { withoutUnsafeCharacters } from '../domain/text/untrusted-text';
import {
  homeFolder,
  parseListenAddress,
  readEnvironment,
  withoutEmpty,
  type Environment,
  type ListenAddress,
} from './environment';
import { findVaultSecretsFolder, readKeys, readSigningKey } from './keys';
import { readRunningStack, stackFile, type RunningStack } from './running-stack';
import { readSecretFiles } from './secret-files';
import { targetsOtherTemporal, readTemporal, type TemporalConfig } from './temporal';

export { parseListenAddress, type ListenAddress } from './environment';
export { signingKeyFile } from './keys';
export { readRunningStack, removeRunningStack, stackFile, writeRunningStack, type RunningStack } from './running-stack';
export type { TemporalConfig } from './temporal';

interface ServiceConfig {
  url: string;
  apiKey: Secret;
}

interface WebhookConfig {
  /** The receiver of notices, which are signed with the secret. Absent: notices are only logged. */
  target?: { url: string; secret: Secret };
}

/** The identity provider with which people can sign in to the portal. */
export interface OpenIdConfig {
  /** Identifier and address of the provider, exactly as in its configuration. */
  issuer: string;
  /** The portal's id at the provider. */
  clientId: string;
}

interface ClientUiConfig {
  /** Without a slash at the end. */
  url: string;
  /** True if `/m/<migration>` leads to the migration's page, as in the UI of the running stack. */
  hasMigrationLinks: boolean;
}

/** The parts of the configuration. A process requests the parts that it needs; the others are not read. */
interface Parts {
  /** Connection to Temporal. Commands that start, show or decide on migrations need it. */
  temporal: TemporalConfig;
  /** Database of the ledger and the vault: `postgres://user:password@host:port/database`. */
  databaseUrl: Secret;
  /** The same database with the role of the portal, which can only call the functions of the portal. */
  portalDatabaseUrl: Secret;
  /** The portal's address for clients, without a slash at the end. */
  portalUrl: string;
  /** OpenID Connect for the portal. Default: people sign in only with the links in their invitations. */
  openId: OpenIdConfig;
  /** The portal's secret at the identity provider. Default: the portal is a public client, and uses only PKCE. */
  openIdSecret: Secret;
  /** The Company Data Service and the account's API key. */
  service: ServiceConfig;
  /** The keys that wrap the private keys of the vaults. Without the right key, a process cannot open credentials. */
  masterKeys: KeyRing;
  /**
   * The folder of the vaults' secrets, outside Postgres and its backups. All workers of a database share it. Without
   * it, a process cannot open credentials.
   */
  vaultSecrets: string;
  /** The keys that encrypt the payloads in Temporal. Without the right key, a process cannot read a migration. */
  payloadKeys: KeyRing;
  /**
   * The keys under which the Company Data Service on this machine encrypts tokens and client secrets. If they are not
   * configured, the program that starts the service creates them and keeps them in a file.
   */
  serviceKeys: KeyRing;
  /**
   * The key that signs the decisions of the person who runs the command. Default: `signing.key` in the home folder; if
   * that file does not exist, decisions are not signed.
   */
  signingKey: SigningKey;
  /**
   * The fingerprint of the key with which the service's provider signs the keys of vaults; the provider publishes it.
   * Default: the running stack's. If there is none, a command does not check who signed a vault's key.
   */
  providerFingerprint: string;
  /** The webhook that receives notices. Default: notices are only logged. */
  webhook: WebhookConfig;
  /** The running stack's codec server. Commands read the address of another one from `TEMPORAL_CODEC_ENDPOINT`. */
  stackCodecUrl: string;
  /** The read-only Web UI for clients. Default: commands print no link for the client. */
  clientUi: ClientUiConfig;
  /** The name of the worker deployment in Temporal. Default: the worker is not versioned. */
  workerDeployment: string;
  /** The address for health checks and metrics. Default: the process has no health server. */
  healthAddress: ListenAddress;
  /** The number of open migrations that have their own metrics. Default: 0. */
  metricsMigrations: number;
  /** True if the process exports traces, because an OpenTelemetry endpoint is configured. Default: it does not. */
  tracing: true;
  /** The build id in Temporal of a versioned worker. Default: the hash of its workflow bundle. */
  workerBuildId: string;
}

export type ConfigPartName = keyof Parts;

export type Config<RequiredPart extends ConfigPartName = never> = {
  /** Folder of this user's persistent files. */
  home: string;
  logLevel: Environment['TOKENFERRY_LOG_LEVEL'];
} & Pick<Parts, RequiredPart>;

/** The name of each part in messages, and the Tokenferry variables that configure it. */
const PARTS: Record<ConfigPartName, { name: string; variables: readonly (keyof Environment)[] }> = {
  temporal: { name: 'Temporal (TEMPORAL_ADDRESS, or a profile)', variables: [] },
  databaseUrl: { name: 'Postgres (DATABASE_URL)', variables: ['DATABASE_URL'] },
  portalDatabaseUrl: {
    name: "Postgres with the portal's role (PORTAL_DATABASE_URL)",
    variables: ['PORTAL_DATABASE_URL'],
  },
  portalUrl: { name: "the portal's address (TOKENFERRY_PORTAL_URL)", variables: ['TOKENFERRY_PORTAL_URL'] },
  openId: {
    name: 'the identity provider (TOKENFERRY_OPENID_ISSUER and TOKENFERRY_OPENID_CLIENT_ID)',
    variables: ['TOKENFERRY_OPENID_ISSUER', 'TOKENFERRY_OPENID_CLIENT_ID'],
  },
  openIdSecret: {
    name: "the portal's secret at the identity provider (TOKENFERRY_OPENID_CLIENT_SECRET)",
    variables: ['TOKENFERRY_OPENID_CLIENT_SECRET'],
  },
  service: {
    name: 'the Company Data Service (COMPANY_DATA_URL and COMPANY_DATA_API_KEY)',
    variables: ['COMPANY_DATA_URL', 'COMPANY_DATA_API_KEY'],
  },
  masterKeys: {
    name: 'the master key (TOKENFERRY_MASTER_KEY or TOKENFERRY_MASTER_KEY_FILE)',
    variables: ['TOKENFERRY_MASTER_KEY', 'TOKENFERRY_MASTER_KEY_FILE'],
  },
  vaultSecrets: {
    name: "the folder of the vaults' secrets (TOKENFERRY_VAULT_SECRETS)",
    variables: ['TOKENFERRY_VAULT_SECRETS'],
  },
  payloadKeys: {
    name: 'the payload key (TOKENFERRY_PAYLOAD_KEY or TOKENFERRY_PAYLOAD_KEY_FILE)',
    variables: ['TOKENFERRY_PAYLOAD_KEY', 'TOKENFERRY_PAYLOAD_KEY_FILE'],
  },
  serviceKeys: {
    name: 'the service key (TOKENFERRY_SERVICE_KEY or TOKENFERRY_SERVICE_KEY_FILE)',
    variables: ['TOKENFERRY_SERVICE_KEY', 'TOKENFERRY_SERVICE_KEY_FILE'],
  },
  signingKey: { name: 'a signing key (TOKENFERRY_SIGNING_KEY_FILE)', variables: ['TOKENFERRY_SIGNING_KEY_FILE'] },
  providerFingerprint: {
    name: "the provider's fingerprint (TOKENFERRY_PROVIDER_FINGERPRINT)",
    variables: ['TOKENFERRY_PROVIDER_FINGERPRINT'],
  },
  webhook: {
    name: 'the webhook (TOKENFERRY_WEBHOOK_URL and TOKENFERRY_WEBHOOK_SECRET)',
    variables: ['TOKENFERRY_WEBHOOK_URL', 'TOKENFERRY_WEBHOOK_SECRET'],
  },
  stackCodecUrl: { name: "the running stack's codec server", variables: [] },
  clientUi: {
    name: 'the Web UI for clients (TOKENFERRY_CLIENT_UI_URL)',
    variables: ['TOKENFERRY_CLIENT_UI_URL'],
  },
  workerDeployment: {
    name: 'the worker deployment (TOKENFERRY_WORKER_DEPLOYMENT)',
    variables: ['TOKENFERRY_WORKER_DEPLOYMENT', 'TEMPORAL_DEPLOYMENT_NAME'],
  },
  healthAddress: {
    name: 'the address for health checks (TOKENFERRY_HEALTH_ADDRESS)',
    variables: ['TOKENFERRY_HEALTH_ADDRESS'],
  },
  metricsMigrations: {
    name: 'the number of migrations with metrics (TOKENFERRY_METRICS_MIGRATIONS)',
    variables: ['TOKENFERRY_METRICS_MIGRATIONS'],
  },
  tracing: {
    name: 'the endpoint for traces (OTEL_EXPORTER_OTLP_ENDPOINT)',
    variables: [
      ...(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const),
      ...(['OTEL_SDK_DISABLED', 'OTEL_TRACES_EXPORTER'] as const),
    ],
  },
  workerBuildId: { name: 'the build id (TEMPORAL_WORKER_BUILD_ID)', variables: ['TEMPORAL_WORKER_BUILD_ID'] },
};

/** Thrown when the configuration is invalid or incomplete. The message lists every problem and what to do about it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  readonly problems: readonly string[];

  /** @param problems can quote paths from the environment, whose unsafe characters are removed */
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
 * @param optional parts that are used if they are configured; all other parts are ignored, even if they are invalid
 * @throws {ConfigurationError} with all problems
 */
export function loadConfig<RequiredPart extends ConfigPartName = never, OptionalPart extends ConfigPartName = never>(
  required: readonly RequiredPart[],
  env: NodeJS.ProcessEnv = process.env,
  optional: readonly OptionalPart[] = [],
): Config<RequiredPart> & Partial<Pick<Parts, OptionalPart>> {
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
    portalUrl: () => (environment.TOKENFERRY_PORTAL_URL ?? stack?.portalUrl)?.replace(/\/+$/, ''),
    openId: () => readOpenId(environment, problems),
    openIdSecret: () => secretOf(environment.TOKENFERRY_OPENID_CLIENT_SECRET),
    service: () => readService(environment, stack, problems),
    masterKeys: () => {
      const keyFile = stack && { name: "The running stack's master key", file: stack.masterKeyFile };
      const source = { variable: 'TOKENFERRY_MASTER_KEY', parse: parseMasterKeys, stackKeyFile: keyFile } as const;
      return readKeys(environment, source, problems);
    },
    vaultSecrets: () => findVaultSecretsFolder(environment, stack?.vaultSecretsFolder, problems),
    payloadKeys: () => {
      const keyFile = stack && { name: "The running stack's payload key", file: stack.payloadKeyFile };
      const source = { variable: 'TOKENFERRY_PAYLOAD_KEY', parse: parsePayloadKeys, stackKeyFile: keyFile } as const;
      return readKeys(environment, source, problems);
    },
    serviceKeys: () => {
      const source = { variable: 'TOKENFERRY_SERVICE_KEY', parse: parseServiceKeys, stackKeyFile: undefined } as const;
      return readKeys(environment, source, problems);
    },
    signingKey: () => readSigningKey(environment, home, problems),
    providerFingerprint: () => environment.TOKENFERRY_PROVIDER_FINGERPRINT ?? stack?.providerFingerprint,
    webhook: () => readWebhook(environment, problems),
    stackCodecUrl: () => stack?.codecUrl,
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
  if (missing.length > 0) problems.push(missingMessage(missing, home, running !== stack));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { home, logLevel: environment.TOKENFERRY_LOG_LEVEL, ...parts } as Config<RequiredPart> &
    Partial<Pick<Parts, OptionalPart>>;
}

function missingMessage(missing: readonly ConfigPartName[], home: string, isStackIgnored: boolean): string {
  const names = missing.map((part) => PARTS[part].name).join(', ');
  if (isStackIgnored) {
    const why = 'because TEMPORAL_ADDRESS points to another Temporal server, or TEMPORAL_PROFILE is set';
    return `Not configured: ${names}. The running stack is not used, ${why}.`;
  }
  return `Not configured: ${names}; and no stack is running (looked for ${stackFile(home)}). Start one with: ferry up`;
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

/** Reads the Web UI for clients. The running stack's UI has migration links only in the stack's own namespace. */
function readClientUi(
  { TOKENFERRY_CLIENT_UI_URL: url }: Environment,
  { TEMPORAL_NAMESPACE: namespace }: Readonly<Record<string, string>>,
  stack: RunningStack | undefined,
): ClientUiConfig | undefined {
  if (url !== undefined) return { url: url.replace(/\/+$/, ''), hasMigrationLinks: false };
  if (stack?.clientUiUrl === undefined) return undefined;
  return {
    url: stack.clientUiUrl,
    hasMigrationLinks: namespace === undefined || namespace === stack.temporal.namespace,
  };
}

/** Reads the webhook. URL and secret must be set together, because the receiver can verify only signed notices. */
function readWebhook(
  { TOKENFERRY_WEBHOOK_URL: url, TOKENFERRY_WEBHOOK_SECRET: secret }: Environment,
  problems: string[],
): WebhookConfig | undefined {
  if (url !== undefined && secret !== undefined) return { target: { url, secret: new Secret(secret) } };
  if (url === undefined && secret === undefined) return {};
  const [set, other] = url === undefined ? ['_SECRET', '_URL'] : ['_URL', '_SECRET'];
  problems.push(`TOKENFERRY_WEBHOOK${set} is set, but TOKENFERRY_WEBHOOK${other} is not. Set both.`);
  return undefined;
}

/** Reads the identity provider. Issuer and client id must be set together. */
function readOpenId(
  { TOKENFERRY_OPENID_ISSUER: issuer, TOKENFERRY_OPENID_CLIENT_ID: clientId }: Environment,
  problems: string[],
): OpenIdConfig | undefined {
  if (issuer !== undefined && clientId !== undefined) return { issuer, clientId };
  if (issuer === undefined && clientId === undefined) return undefined;
  const [set, other] = issuer === undefined ? ['CLIENT_ID', 'ISSUER'] : ['ISSUER', 'CLIENT_ID'];
  problems.push(`TOKENFERRY_OPENID_${set} is set, but TOKENFERRY_OPENID_${other} is not. Set both.`);
  return undefined;
}

/**
 * Reads the service's URL and API key from one source, so that the running stack's key is never sent to another
 * service.
 */
function readService(
  { COMPANY_DATA_URL: url, COMPANY_DATA_API_KEY: apiKey }: Environment,
  stack: RunningStack | undefined,
  problems: string[],
): ServiceConfig | undefined {
  if (url !== undefined && apiKey !== undefined) return { url, apiKey: new Secret(apiKey) };
  if (url !== undefined || apiKey !== undefined) {
    const [set, other] = url === undefined ? ['_API_KEY', '_URL'] : ['_URL', '_API_KEY'];
    problems.push(`COMPANY_DATA${set} is set, but COMPANY_DATA${other} is not. Set both.`);
    return undefined;
  }
  return stack && { url: stack.service.url, apiKey: new Secret(stack.service.apiKey) };
}
