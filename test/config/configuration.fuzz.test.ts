/**
 * Fuzzes the configuration: environment variables with arbitrary text, and the files that they name with arbitrary
 * content. All problems are reported together, without a stack trace and without a secret. See
 * test/support/faults/fuzz.ts for longer runs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { ConfigurationError, loadConfig, stackFile, type ConfigPartName } from '../../config';
import { hasUnsafeCharacters } from '../../domain/text/untrusted-text';
import {
  anyBytes,
  anyJson,
  anyText,
  brokenJson,
  fuzzer,
  NASTY_BYTES,
  NASTY_TEXTS,
  wellFormed,
  withinMs,
} from '../support/faults/fuzz';

const configurations = fuzzer('configurations');

const SECRET = 'hunter2';
const KEY = Buffer.alloc(32, 7).toString('base64');
const PARTS: readonly ConfigPartName[] = [
  ...(['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys'] as const),
  ...(['serviceKeys', 'signingKey', 'webhook', 'workerDeployment', 'workerBuildId'] as const),
  ...(['portalDatabaseUrl', 'portalUrl', 'openId', 'openIdSecret'] as const),
];

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tokenferry-fuzz-'));
  mkdirSync(path.join(home, 'folder'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The values of environment variables, and the content of the files `a`, `temporal.toml` and `stack.json`. */
interface Input {
  readonly variables: Readonly<Record<string, string>>;
  readonly file: Buffer;
  readonly temporal: string;
  readonly stack: string;
}

const input = (variables: Record<string, string>, changes: Partial<Input> = {}): Input => ({
  ...{ file: Buffer.from(KEY), temporal: '', stack: '' },
  ...changes,
  variables,
});
const FILE = '<home>/a';
const LONG = `/${'x'.repeat(5_000)}`;
const toml = (temporal: string): Input => input({ TEMPORAL_ADDRESS: 'x:1' }, { temporal });

const FILES = [
  ...['TOKENFERRY_MASTER_KEY_FILE', 'TOKENFERRY_PAYLOAD_KEY_FILE', 'TOKENFERRY_SERVICE_KEY_FILE'],
  ...['TOKENFERRY_SIGNING_KEY_FILE', 'TOKENFERRY_VAULT_SECRETS', 'TOKENFERRY_HOME', 'TEMPORAL_CONFIG_FILE'],
  ...['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
];
const SECRETS = [
  ...['TOKENFERRY_MASTER_KEY', 'TOKENFERRY_PAYLOAD_KEY', 'TOKENFERRY_SERVICE_KEY', 'TOKENFERRY_WEBHOOK_SECRET'],
  ...['COMPANY_DATA_API_KEY', 'TEMPORAL_API_KEY', 'TEMPORAL_TLS_CLIENT_KEY_DATA', 'TOKENFERRY_OPENID_CLIENT_SECRET'],
];
const URLS = ['DATABASE_URL', 'COMPANY_DATA_URL', 'TOKENFERRY_WEBHOOK_URL', 'TOKENFERRY_OPENID_ISSUER'];
const OTHERS = [
  ...['TOKENFERRY_LOG_LEVEL', 'TOKENFERRY_WORKER_DEPLOYMENT', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'],
  ...['TEMPORAL_PROFILE', 'TEMPORAL_TLS', 'TEMPORAL_TLS_SERVER_NAME', 'TEMPORAL_GRPC_META_TENANT'],
];

/** Configurations that easily cause an unexpected error or a message with a secret. */
const CORPUS: readonly Input[] = [
  input({}),
  ...NASTY_TEXTS.flatMap((text) => [...OTHERS, ...FILES, ...URLS].map((name) => input({ [name]: asVariable(text) }))),
  ...SECRETS.map((name) => input({ [name]: SECRET })),
  ...FILES.map((name) => input({ [name]: LONG })),
  ...FILES.map((name) => input({ [name]: '<home>/folder' })),
  ...FILES.map((name) => input({ [name]: `${FILE}/below-a-file` })),
  ...FILES.filter((name) => !name.startsWith('TEMPORAL_')).map((name) => input({ [name]: '/dev/zero' })),
  ...NASTY_BYTES.flatMap((file) => FILES.map((name) => input({ [name]: FILE }, { file }))),
  ...[
    ...[
      '',
      ':',
      '://',
      '//h/d',
      `//u:${SECRET}@/x`,
      `//u:${SECRET}%zz@h/x`,
      '//h/%zz',
      '//h:99999/x',
      `//${SECRET}@[::1/x`,
    ],
    ...['//h/x?sslcert=/nope', '//h/x?ssl=maybe', `//u:${SECRET}@h:5432/x#y`],
  ].flatMap((rest) =>
    ['postgres', 'http', 'mysql'].flatMap((scheme) => URLS.map((name) => input({ [name]: `${scheme}:${rest}` }))),
  ),
  toml(`[profile.default]\napi_key = "${SECRET}\naddress = "x"\n`),
  toml(`[profile.default]\naddress = "a:1"\napi_key = ${SECRET}\n`),
  toml(`[profile.default]\napi_key = "${SECRET}"\n[profile.default]\n`),
  input({}, { temporal: '[profile.default]\naddress = 7\n' }),
  input({}, { temporal: '[profile.default]\naddress = "a:1"\nnamespace = ["x"]\napi_key = 7\n' }),
  input(
    {},
    { temporal: '[profile.default]\naddress = "a:1"\n[profile.default.grpc_meta]\n"a\\nb" = "c\\nd"\nx = 7\n' },
  ),
  input({}, { temporal: '[profile.default]\naddress = "a:1"\n[profile.default.tls]\nserver_ca_cert_data = 7\n' }),
  input({ TEMPORAL_ADDRESS: 'x:1', TEMPORAL_GRPC_META_TENANT: 'a\nb' }),
  input({}, { stack: '{"pid":1}' }),
  input({}, { stack: '['.repeat(100_000) }),
];

function asVariable(text: string): string {
  return wellFormed(text).replaceAll('\u0000', '');
}

const text = anyText.map(asVariable);
const location = fc.constantFrom('<home>/a', '<home>/folder', '<home>/missing', '<home>', '/dev/null', '.', '', LONG);
const variable = fc.oneof(
  { arbitrary: fc.tuple(fc.constantFrom(...FILES), fc.oneof({ arbitrary: location, weight: 3 }, text)), weight: 4 },
  fc.tuple(fc.constantFrom(...SECRETS), fc.oneof(fc.constant(KEY), fc.constant(SECRET), text)),
  fc.tuple(
    fc.constantFrom(...URLS),
    fc
      .tuple(
        fc.constantFrom('postgres://', 'postgresql://', 'http://', 'https://', 'mysql://', ''),
        fc.constantFrom('', `u:${SECRET}@`, `${SECRET}@`),
        fc.oneof(text, fc.constantFrom('h:1/x', 'h/%zz', 'h?a=b')),
      )
      .map((parts) => parts.join('')),
  ),
  fc.tuple(fc.constantFrom(...OTHERS), fc.oneof(fc.constantFrom('info', 'x:1', 'default', 'true', 'client'), text)),
);
const tomlText = fc
  .array(
    fc.oneof(
      fc.constantFrom('[profile.default]', '[profile.client]', '[profile.default.tls]', '[profile.default.grpc_meta]'),
      fc
        .tuple(
          fc.constantFrom(
            'address',
            'namespace',
            'api_key',
            'server_name',
            'client_key_data',
            'disabled',
            'tenant',
            'x y',
          ),
          fc.oneof(
            anyText.map((each) => JSON.stringify(each)),
            fc.constantFrom('7', 'true', '[]', '{}', '1979-05-27', `"${SECRET}"`, `"${SECRET}`, SECRET, '"a:1"'),
          ),
        )
        .map(([key, value]) => `${key} = ${value}`),
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));
const anyInput: fc.Arbitrary<Input> = fc.record({
  variables: fc.array(variable, { maxLength: 8 }).map((entries) => Object.fromEntries(entries)),
  file: fc.oneof(
    anyBytes,
    fc
      .constantFrom(KEY, `${KEY}\n${KEY}`, `${SECRET}\n`, `{"privateKey":"${SECRET}"}`)
      .map((each) => Buffer.from(each)),
    anyJson.map((each) => Buffer.from(each)),
  ),
  temporal: fc.oneof(tomlText, brokenJson),
  stack: fc.oneof(fc.constant(''), anyJson, brokenJson),
});

function problemsOf(parts: readonly ConfigPartName[], env: NodeJS.ProcessEnv): readonly string[] {
  try {
    const { temporal } = loadConfig([], env, parts);
    // Temporal's client uses these values without checking them.
    if (temporal) for (const value of [temporal.address, temporal.namespace]) expect(typeof value).toBe('string');
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

test(
  'any configuration is read, or all of its problems are reported together and without a secret',
  async () => {
    await configurations.tryAll(
      { corpus: CORPUS, any: anyInput, generated: 800 },
      async ({ variables, file, temporal, stack }) => {
        writeFileSync(path.join(home, 'a'), file);
        writeFileSync(path.join(home, 'temporal.toml'), temporal);
        writeFileSync(stackFile(home), stack);
        const env: NodeJS.ProcessEnv = {
          TOKENFERRY_HOME: home,
          TEMPORAL_CONFIG_FILE: path.join(home, 'temporal.toml'),
        };
        for (const [name, value] of Object.entries(variables)) env[name] = value.replace('<home>', home);

        const together = problemsOf(PARTS, env);
        for (const problem of together) {
          // A problem quotes the path in a `_FILE` variable, which can contain any text.
          const paths = Object.entries(variables).filter(([name, value]) => name.endsWith('_FILE') && value !== SECRET);
          if (!paths.some(([, value]) => value !== '' && problem.includes(value)))
            expect(problem).not.toContain(SECRET);
          expect(problem).not.toMatch(/\n|\bat \S+ \(/);
          expect(hasUnsafeCharacters(problem)).toBe(false);
        }
        if (together.length > 1)
          for (const part of PARTS) for (const problem of problemsOf([part], env)) expect(together).toContain(problem);
        expect(together.join()).not.toContain(KEY);
      },
    );
  },
  withinMs(90_000),
);
