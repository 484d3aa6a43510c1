import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig, readRunningStack, stackFile, writeRunningStack, type RunningStack } from '../../config';
import { problemsOf } from './problems';
import { sampleStack } from './sample-stack';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const PAYLOAD_KEY = Buffer.alloc(32, 8).toString('base64');
/** Larger than the largest process id of Linux and macOS. */
const ENDED_PID = 2 ** 22 + 1;

let home: string;
let env: NodeJS.ProcessEnv;
let stack: RunningStack;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tokenferry-config-'));
  stack = sampleStack(home);
  writeFileSync(stack.masterKeyFile, `${MASTER_KEY}\n`);
  writeFileSync(stack.payloadKeyFile, `${PAYLOAD_KEY}\n`);
  env = { TOKENFERRY_HOME: home, TEMPORAL_CONFIG_FILE: path.join(home, 'temporal.toml') };
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const everything = ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys'] as const;

test('needs no environment variables while a stack is running', () => {
  writeRunningStack(home, stack);
  const config = loadConfig(everything, env);
  expect(config.temporal).toMatchObject({ address: '127.0.0.1:7001', namespace: 'default' });
  expect(config.databaseUrl.reveal()).toBe('postgres://stack/tokenferry');
  expect(config.service).toMatchObject({ url: 'http://127.0.0.1:7002' });
  expect(config.service.apiKey.reveal()).toBe('key of the stack');
  expect(config.masterKeys.newest.key.reveal()).toEqual(Buffer.alloc(32, 7));
  expect(config.payloadKeys.newest.key.reveal()).toEqual(Buffer.alloc(32, 8));
});

test('names the parts if a program asks for a part that does not exist', () => {
  for (const part of ['database', 'toString']) {
    const names = /^Unknown part of the configuration: \w+\. The parts are: .*databaseUrl, .*masterKeys/;
    expect(problemsOf(() => loadConfig([part as 'databaseUrl'], env))).toEqual([expect.stringMatching(names)]);
  }
});

test('takes the folder of the vault secrets from the environment, where it must exist, or else from the stack', () => {
  writeRunningStack(home, stack);
  expect(loadConfig(['vaultSecrets'], env).vaultSecrets).toBe(stack.vaultSecretsFolder);
  expect(loadConfig(['vaultSecrets'], { ...env, TOKENFERRY_VAULT_SECRETS: home }).vaultSecrets).toBe(home);
  const missing = { ...env, TOKENFERRY_VAULT_SECRETS: path.join(home, 'none') };
  expect(problemsOf(() => loadConfig(['vaultSecrets'], missing))).toEqual([
    expect.stringMatching(
      /there is no folder .*none\. Mount the folder, or create it on storage that all workers share/,
    ),
  ]);
});

test('finds the Web UI for clients in the environment, or else in the stack, whose UI has a link for each migration', () => {
  writeRunningStack(home, { ...stack, clientUiUrl: 'http://127.0.0.1:7003' });
  const clientUi = (set: NodeJS.ProcessEnv) => loadConfig([], { ...env, ...set }, ['clientUi']).clientUi;
  expect(clientUi({})).toEqual({ url: 'http://127.0.0.1:7003', hasMigrationLinks: true });
  expect(clientUi({ TEMPORAL_NAMESPACE: 'other' })?.hasMigrationLinks).toBe(false);
  expect(clientUi({ TEMPORAL_ADDRESS: 'elsewhere:1' })).toBeUndefined();
  const url = 'https://ui.example/temporal';
  expect(clientUi({ TOKENFERRY_CLIENT_UI_URL: `${url}/` })).toEqual({ url, hasMigrationLinks: false });
  expect(problemsOf(() => clientUi({ TOKENFERRY_CLIENT_UI_URL: 'ui.example' }))).toEqual([
    'TOKENFERRY_CLIENT_UI_URL must be an address that begins with http:// or https://.',
  ]);
});

test("takes the portal's address and database from the environment, a file or the stack", () => {
  writeRunningStack(home, {
    ...stack,
    portalUrl: 'http://127.0.0.1:7004',
    portalDatabaseUrl: 'postgres://p:q@stack/db',
  });
  const portal = (set: NodeJS.ProcessEnv) => {
    const config = loadConfig([], { ...env, ...set }, ['portalUrl', 'portalDatabaseUrl']);
    return [config.portalUrl, config.portalDatabaseUrl?.reveal()];
  };
  expect(portal({})).toEqual(['http://127.0.0.1:7004', 'postgres://p:q@stack/db']);
  expect(portal({ TEMPORAL_ADDRESS: 'elsewhere:1' })).toEqual([undefined, undefined]);
  const file = path.join(home, 'portal.url');
  writeFileSync(file, 'postgres://p:q@file/db\n');
  expect(portal({ PORTAL_DATABASE_URL_FILE: file, TOKENFERRY_PORTAL_URL: 'https://portal.example/' })).toEqual([
    'https://portal.example',
    'postgres://p:q@file/db',
  ]);
});

test("prefers the environment to Temporal's profile", () => {
  writeFileSync(path.join(home, 'temporal.toml'), '[profile.default]\naddress = "profile:1"\nnamespace = "ours"\n');
  expect(loadConfig(['temporal'], env).temporal).toMatchObject({ address: 'profile:1', namespace: 'ours' });

  const set = { ...env, TEMPORAL_ADDRESS: 'variable:1', DATABASE_URL: 'postgres://variable/db' };
  const config = loadConfig(['temporal', 'databaseUrl'], set);
  expect(config.temporal).toMatchObject({ address: 'variable:1', namespace: 'ours' });
  expect(config.databaseUrl.reveal()).toBe('postgres://variable/db');
});

test('prefers a running stack to the default profile, because its database belongs to its own Temporal', () => {
  writeRunningStack(home, stack);
  writeFileSync(
    path.join(home, 'temporal.toml'),
    '[profile.default]\naddress = "profile:1"\n[profile.other]\naddress = "other:1"\n',
  );
  expect(loadConfig(['temporal'], env).temporal.address).toBe(stack.temporal.address);
  expect(loadConfig(['temporal'], { ...env, TEMPORAL_PROFILE: 'other' }).temporal.address).toBe('other:1');
});

test('ignores the database and keys of the running stack if the environment points to another Temporal server', () => {
  writeRunningStack(home, stack);
  const elsewhere = { ...env, TEMPORAL_ADDRESS: 'elsewhere:7233' };
  expect(loadConfig(['temporal'], elsewhere, ['databaseUrl', 'payloadKeys'])).toEqual({
    home,
    logLevel: 'info',
    temporal: expect.objectContaining({ address: 'elsewhere:7233' }) as unknown,
  });
  expect(problemsOf(() => loadConfig(['databaseUrl', 'payloadKeys'], elsewhere))).toEqual([
    expect.stringMatching(/^Not configured: Postgres .*The running stack is not used, because TEMPORAL_ADDRESS/),
  ]);
  // The running stack has no portal.
  const instead = 'Configure what is missing, because the running stack does not provide';
  expect(problemsOf(() => loadConfig(['portalUrl'], elsewhere))).toEqual([
    `Not configured: the portal's address (TOKENFERRY_PORTAL_URL). ${instead} it.`,
  ]);
  expect(problemsOf(() => loadConfig(['portalUrl', 'databaseUrl'], elsewhere))).toEqual([
    expect.stringContaining(`${instead} all of it.`),
  ]);
  const sameServer = { ...env, TEMPORAL_ADDRESS: stack.temporal.address };
  expect(loadConfig(['databaseUrl'], sameServer).databaseUrl.reveal()).toBe('postgres://stack/tokenferry');
});

test("accepts another namespace of the running stack's Temporal", () => {
  writeRunningStack(home, stack);
  const { temporal } = loadConfig(['temporal'], { ...env, TEMPORAL_NAMESPACE: 'client-b' });
  expect(temporal).toMatchObject({ address: stack.temporal.address, namespace: 'client-b' });
});

test("reads TLS settings and files from the profile like Temporal's own CLI", () => {
  writeFileSync(path.join(home, 'ca.pem'), 'certificates of an authority');
  writeFileSync(
    path.join(home, 'temporal.toml'),
    [
      '[profile.client]',
      'address = "temporal.example.com:7233"',
      'namespace = "client-b"',
      '[profile.client.tls]',
      'server_name = "temporal.internal"',
      `server_ca_cert_path = "${path.join(home, 'ca.pem')}"`,
      '[profile.client.grpc_meta]',
      'tenant = "b"',
    ].join('\n'),
  );
  const { temporal } = loadConfig(['temporal'], { ...env, TEMPORAL_PROFILE: 'client' });
  expect(temporal).toMatchObject({
    namespace: 'client-b',
    connectionOptions: {
      tls: {
        serverNameOverride: 'temporal.internal',
        serverRootCACertificate: Buffer.from('certificates of an authority'),
      },
      metadata: { tenant: 'b' },
    },
  });
});

test('enables TLS if an API key for Temporal is set', () => {
  const { temporal } = loadConfig(['temporal'], { ...env, TEMPORAL_ADDRESS: 'cloud:7233', TEMPORAL_API_KEY: 'key' });
  expect(temporal.connectionOptions).toMatchObject({ address: 'cloud:7233', apiKey: 'key', tls: true });
});

test('treats an empty variable as not set', () => {
  writeRunningStack(home, stack);
  const { databaseUrl } = loadConfig(['databaseUrl'], { ...env, DATABASE_URL: '' });
  expect(databaseUrl.reveal()).toBe('postgres://stack/tokenferry');
});

test('reports all problems together, each problem once, without quoting a secret', () => {
  writeFileSync(path.join(home, 'temporal.toml'), '[profile.default\n');
  const wrong = {
    ...env,
    TOKENFERRY_LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    COMPANY_DATA_API_KEY: 'hunter2',
    TOKENFERRY_MASTER_KEY: 'hunter2',
    TOKENFERRY_VAULT_SECRETS: path.join(home, 'none'),
    TOKENFERRY_PAYLOAD_KEY: 'hunter2',
  };
  const problems = problemsOf(() => loadConfig(everything, wrong));
  expect(problems).toEqual([
    expect.stringMatching(/^TOKENFERRY_LOG_LEVEL must be one of trace, /),
    'DATABASE_URL must be an address that begins with postgres:// or postgresql://.',
    expect.stringMatching(/^Temporal's configuration .* cannot be read/),
    'COMPANY_DATA_API_KEY is set, but COMPANY_DATA_URL is not. Set both or neither.',
    expect.stringMatching(/^TOKENFERRY_MASTER_KEY: Master key 1 is not 32 bytes in base64\. If it is an existing key/),
    expect.stringMatching(/^TOKENFERRY_VAULT_SECRETS: there is no folder /),
    expect.stringMatching(/^TOKENFERRY_PAYLOAD_KEY: Payload key 1 is not 32 bytes in base64\. .*openssl rand/),
  ]);
  expect(problems.join()).not.toContain('hunter2');
});

test('reports in one line what is missing, where the stack was looked for, and how to start one', () => {
  expect(problemsOf(() => loadConfig(['temporal', 'databaseUrl'], env))).toEqual([
    "Not configured: Temporal (TEMPORAL_ADDRESS, or a profile in Temporal's configuration file), Postgres (DATABASE_URL). " +
      `No stack is running on this machine, according to ${stackFile(home)}. ` +
      'Configure what is missing, or start a stack with: ferry up',
  ]);
});

test('says first that no stack is running, if one has run here and no other Temporal is configured', () => {
  writeFileSync(path.join(home, 'temporal.db'), '');
  const problemsWith = (changes: NodeJS.ProcessEnv) =>
    problemsOf(() => loadConfig(['temporal', 'databaseUrl'], { ...env, ...changes }));
  expect(problemsWith({})).toEqual([
    `No stack is running in ${home}; start it with: ferry up; to use other servers instead, configure Temporal (TEMPORAL_ADDRESS, or a profile in Temporal's configuration file), Postgres (DATABASE_URL).`,
  ]);
  writeFileSync(path.join(home, 'temporal.toml'), '[profile.other]\naddress = "other:1"\n');
  for (const otherTemporal of [{ TEMPORAL_ADDRESS: 'temporal:7233' }, { TEMPORAL_PROFILE: 'other' }])
    expect(problemsWith(otherTemporal)).toEqual([
      `Not configured: Postgres (DATABASE_URL). No stack is running on this machine, according to ${stackFile(home)}. ` +
        'Configure what is missing, or unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE, and then start a stack with: ferry up',
    ]);
});

test('ignores parts of the configuration that a command does not need', () => {
  expect(loadConfig([], { ...env, DATABASE_URL: 'nonsense' })).toEqual({ home, logLevel: 'info' });
});

test("never uses the running stack's API key for another service", () => {
  writeRunningStack(home, stack);
  expect(problemsOf(() => loadConfig(['service'], { ...env, COMPANY_DATA_URL: 'https://elsewhere' }))).toEqual([
    'COMPANY_DATA_URL is set, but COMPANY_DATA_API_KEY is not. Set both or neither.',
  ]);
});

test('ignores the stack file of a process that has ended', () => {
  writeRunningStack(home, { ...stack, pid: ENDED_PID });
  expect(readRunningStack(home)).toBeUndefined();
});

test('makes the stack file readable only by its owner', () => {
  writeRunningStack(home, stack);
  expect(statSync(stackFile(home)).mode & 0o077).toBe(0);
});

test.each([
  ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
  ['[::1]:0', { host: '::1', port: 0 }],
  ['localhost:9464', { host: 'localhost', port: 9464 }],
])('reads the address for health checks %s', (text, address) => {
  const config = loadConfig([], { ...env, TOKENFERRY_HEALTH_ADDRESS: text }, ['healthAddress']);
  expect(config.healthAddress).toEqual(address);
});

test.each(['9464', ':9464', '0.0.0.0', '0.0.0.0:65536', '::1:9464', 'http://localhost:9464'])(
  'refuses the address for health checks %s',
  (text) => {
    const load = (): unknown => loadConfig([], { ...env, TOKENFERRY_HEALTH_ADDRESS: text }, ['healthAddress']);
    expect(problemsOf(load)).toEqual([
      'TOKENFERRY_HEALTH_ADDRESS must be host:port, for example 0.0.0.0:9464 or [::]:9464.',
    ]);
  },
);
