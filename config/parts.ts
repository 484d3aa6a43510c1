/** The parts of the configuration, their names in messages, and the variables that configure them. */
import type { KeyRing, Secret, SigningKey } from '../security';
import type { Environment, ListenAddress } from './environment';
import type { TemporalConfig } from './temporal';

export interface ServiceConfig {
  /** Without a slash at the end. */
  url: string;
  apiKey: Secret;
}

export interface WebhookConfig {
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

export interface ClientUiConfig {
  /** Without a slash at the end. */
  url: string;
  /** True if `/m/<migration>` leads to the migration's page, as in the UI of the running stack. */
  hasMigrationLinks: boolean;
}

/** The parts of the configuration. A process requests the parts that it needs; the other parts are not read. */
export interface Parts {
  /** Connection to Temporal. Commands that start, show or decide on migrations need it. */
  temporal: TemporalConfig;
  /** Database of the ledger and the vault: `postgres://user:password@host:port/database`. */
  databaseUrl: Secret;
  /** The same database with the role of the portal, which can only call the functions of the portal. */
  portalDatabaseUrl: Secret;
  /** The portal's address for clients, without a slash at the end. */
  portalUrl: string;
  /** OpenID Connect for the portal. Default: people cannot sign in with an account at an identity provider. */
  openId: OpenIdConfig;
  /** The portal's secret at the identity provider. Default: the portal is a public client, and uses only PKCE. */
  openIdSecret: Secret;
  /** The Company Data Service and the account's API key. */
  service: ServiceConfig;
  /** The keys that wrap the private keys of the vaults. Without the right key, a process cannot open credentials. */
  masterKeys: KeyRing;
  /**
   * The folder of the vault secrets, outside Postgres and its backups. All workers of a database share this folder.
   * Without it, a process cannot open credentials.
   */
  vaultSecrets: string;
  /** The keys that encrypt the payloads in Temporal. Without the right key, a process cannot read a migration. */
  payloadKeys: KeyRing;
  /**
   * The keys under which the Company Data Service encrypts tokens and client secrets. If they are not configured,
   * `ferry up` and `ferry service start` create a key and keep it in a file. The service's process in a deployment
   * requires them.
   */
  serviceKeys: KeyRing;
  /**
   * The key that signs the decisions of the person who runs the command. Default: `signing.key` in the home folder; if
   * that file does not exist, decisions are not signed.
   */
  signingKey: SigningKey;
  /**
   * The fingerprint of the provider key, which the provider publishes. The provider key signs the public keys of
   * migrations. Default: the fingerprint of the running stack. If there is no fingerprint, a command does not check who
   * signed a public key.
   */
  providerFingerprint: string;
  /** The webhook that receives notices. Default: notices are only logged. */
  webhook: WebhookConfig;
  /**
   * The address of the running stack's codec server, which `ferry doctor` checks if `TEMPORAL_CODEC_ENDPOINT` is not
   * set.
   */
  stackCodecUrl: string;
  /**
   * The running stack: whether its configuration is used, or the environment points to another Temporal server; whether
   * the stack uses a Postgres that it has not started; and the database of its ledger.
   */
  runningStack: { readonly isUsed: boolean; readonly isDatabaseExternal: boolean; readonly databaseUrl: Secret };
  /** The read-only Web UI for clients. Default: commands print no link for the client. */
  clientUi: ClientUiConfig;
  /** The name of the worker deployment in Temporal. Default: the worker is not versioned. */
  workerDeployment: string;
  /** The address for health checks and metrics. Default: the process has no health server. */
  healthAddress: ListenAddress;
  /** The maximum number of open migrations that have their own metrics. Default: 0. */
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

/** The name of each part in messages, and the variables of environment.ts that configure it. */
export const PARTS: Record<ConfigPartName, { name: string; variables: readonly (keyof Environment)[] }> = {
  temporal: { name: "Temporal (TEMPORAL_ADDRESS, or a profile in Temporal's configuration file)", variables: [] },
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
    name: 'the folder of the vault secrets (TOKENFERRY_VAULT_SECRETS)',
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
  runningStack: { name: 'the running stack', variables: [] },
  clientUi: {
    name: 'the Temporal UI for clients (TOKENFERRY_CLIENT_UI_URL)',
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
    name: 'the number of migrations with their own metrics (TOKENFERRY_METRICS_MIGRATIONS)',
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
