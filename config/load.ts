import { parseMasterKeys, parsePayloadKeys, Secret, type KeyRing, type SigningKey } from '../security';
import { readEnvironment, withoutEmpty, type Environment } from './environment';
import { homeFolder } from './home';
import { readKeys } from './keys';
import { readSigningKey } from './signing-key';
import { readRunningStack, stackFile, type RunningStack } from './running-stack';
import { isAnotherTemporal, readTemporal, type TemporalConfig } from './temporal';

/** The Company Data Service, and the key that it knows us by. */
interface ServiceConfig {
  url: string;
  apiKey: Secret;
}

/** Where notices go beside the log; nowhere, if no address is set. */
interface WebhookConfig {
  target?: { url: string; secret: Secret };
}

/** What a command or a process may need. */
interface Parts {
  temporal: TemporalConfig;
  /** `postgres://...`, with the password. */
  databaseUrl: Secret;
  service: ServiceConfig;
  /** Above every key of the vault. */
  masterKeys: KeyRing;
  /** Of what Temporal keeps. */
  payloadKeys: KeyRing;
  /** Of the person at the keyboard. */
  signingKey: SigningKey;
  webhook: WebhookConfig;
}

export type Part = keyof Parts;

export type Config<Needed extends Part = never> = {
  /** The folder of what must survive. */
  home: string;
  logLevel: Environment['TOKENFERRY_LOG_LEVEL'];
} & Pick<Parts, Needed>;

/** How each part is called in a message, and the variables of ours that set it. */
const PARTS: Record<Part, { name: string; variables: readonly (keyof Environment)[] }> = {
  temporal: { name: 'Temporal (TEMPORAL_ADDRESS, or a profile)', variables: [] },
  databaseUrl: { name: 'Postgres (DATABASE_URL)', variables: ['DATABASE_URL'] },
  service: {
    name: 'the Company Data Service (COMPANY_DATA_URL and COMPANY_DATA_API_KEY)',
    variables: ['COMPANY_DATA_URL', 'COMPANY_DATA_API_KEY'],
  },
  masterKeys: {
    name: 'the master key (TOKENFERRY_MASTER_KEY or TOKENFERRY_MASTER_KEY_FILE)',
    variables: ['TOKENFERRY_MASTER_KEY', 'TOKENFERRY_MASTER_KEY_FILE'],
  },
  payloadKeys: {
    name: 'the payload key (TOKENFERRY_PAYLOAD_KEY or TOKENFERRY_PAYLOAD_KEY_FILE)',
    variables: ['TOKENFERRY_PAYLOAD_KEY', 'TOKENFERRY_PAYLOAD_KEY_FILE'],
  },
  signingKey: { name: 'a signing key (TOKENFERRY_SIGNING_KEY_FILE)', variables: ['TOKENFERRY_SIGNING_KEY_FILE'] },
  webhook: {
    name: 'the webhook (TOKENFERRY_WEBHOOK_URL and TOKENFERRY_WEBHOOK_SECRET)',
    variables: ['TOKENFERRY_WEBHOOK_URL', 'TOKENFERRY_WEBHOOK_SECRET'],
  },
};

/** The configuration is wrong or not complete; the message holds every problem, and what to do about it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/**
 * Reads the configuration once, at the start of a process. Each part is taken from the environment, then (for Temporal)
 * from its profile, then from the stack that `ferry up` runs; from that nothing, where another Temporal is meant: its
 * database and its keys do not belong to that one.
 *
 * @param needs The parts that this process cannot do without.
 * @param wants Parts that it can use where they are configured. All others are not looked at.
 * @throws {@link ConfigurationError} with all problems together
 */
export function loadConfig<Needed extends Part = never, Wanted extends Part = never>(
  needs: readonly Needed[],
  env: NodeJS.ProcessEnv = process.env,
  wants: readonly Wanted[] = [],
): Config<Needed> & Partial<Pick<Parts, Wanted>> {
  const problems: string[] = [];
  const variables = withoutEmpty(env);
  const looksAt = new Set<string>(['TOKENFERRY_HOME', 'TOKENFERRY_LOG_LEVEL']);
  for (const part of [...needs, ...wants]) for (const variable of PARTS[part].variables) looksAt.add(variable);
  const { environment, wrong } = readEnvironment(
    Object.fromEntries(Object.entries(variables).filter(([name]) => looksAt.has(name))),
    problems,
  );
  const home = homeFolder(environment.TOKENFERRY_HOME);
  const running = readRunningStack(home);
  const stack = running && isAnotherTemporal(variables, running) ? undefined : running;

  const readers: { [P in Part]: () => Parts[P] | undefined } = {
    temporal: () => readTemporal(variables, stack, problems),
    databaseUrl: () => readDatabaseUrl(environment, stack),
    service: () => readService(environment, stack, problems),
    masterKeys: () => {
      const ofStack = stack && { name: "The running stack's master key", file: stack.masterKeyFile };
      return readKeys(environment, { variable: 'TOKENFERRY_MASTER_KEY', parse: parseMasterKeys, ofStack }, problems);
    },
    payloadKeys: () => {
      const ofStack = stack && { name: "The running stack's payload key", file: stack.payloadKeyFile };
      return readKeys(environment, { variable: 'TOKENFERRY_PAYLOAD_KEY', parse: parsePayloadKeys, ofStack }, problems);
    },
    signingKey: () => readSigningKey(environment, home, problems),
    webhook: () => readWebhook(environment, problems),
  };
  const parts: Partial<Parts> = {};
  const missing: Part[] = [];
  for (const part of [...needs, ...wants]) {
    if (PARTS[part].variables.some((variable) => wrong.has(variable))) continue;
    const problemsBefore = problems.length;
    const value = readers[part]();
    if (value !== undefined) Object.assign(parts, { [part]: value });
    else if (problems.length === problemsBefore && needs.some((needed) => needed === part)) missing.push(part);
  }
  if (missing.length > 0) problems.push(missingMessage(missing, home, running !== stack));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { home, logLevel: environment.TOKENFERRY_LOG_LEVEL, ...parts } as Config<Needed> &
    Partial<Pick<Parts, Wanted>>;
}

function missingMessage(missing: readonly Part[], home: string, isAnothers: boolean): string {
  const names = missing.map((part) => PARTS[part].name).join(', ');
  if (isAnothers) {
    return `Not configured: ${names}. The running stack has them, but TEMPORAL_ADDRESS or TEMPORAL_PROFILE names another Temporal.`;
  }
  return `Not configured: ${names}; and no stack is running (looked for ${stackFile(home)}). Start one with: ferry up`;
}

function readDatabaseUrl(environment: Environment, stack: RunningStack | undefined): Secret | undefined {
  const url = environment.DATABASE_URL ?? stack?.databaseUrl;
  return url === undefined ? undefined : new Secret(url);
}

/** Whoever receives notices has to be able to tell that they are ours. */
function readWebhook(
  { TOKENFERRY_WEBHOOK_URL: url, TOKENFERRY_WEBHOOK_SECRET: secret }: Environment,
  problems: string[],
): WebhookConfig | undefined {
  if (url !== undefined && secret !== undefined) return { target: { url, secret: new Secret(secret) } };
  if (url === undefined && secret === undefined) return {};
  const [set, other] = url === undefined ? ['_SECRET', '_URL'] : ['_URL', '_SECRET'];
  problems.push(`TOKENFERRY_WEBHOOK${set} is set, but TOKENFERRY_WEBHOOK${other} is not: the two belong together.`);
  return undefined;
}

/** Address and key belong together: the running stack's key must not be sent to another address. */
function readService(
  { COMPANY_DATA_URL: url, COMPANY_DATA_API_KEY: apiKey }: Environment,
  stack: RunningStack | undefined,
  problems: string[],
): ServiceConfig | undefined {
  if (url !== undefined && apiKey !== undefined) return { url, apiKey: new Secret(apiKey) };
  if (url !== undefined || apiKey !== undefined) {
    const [set, other] = url === undefined ? ['_API_KEY', '_URL'] : ['_URL', '_API_KEY'];
    problems.push(`COMPANY_DATA${set} is set, but COMPANY_DATA${other} is not: the two belong together.`);
    return undefined;
  }
  return stack && { url: stack.service.url, apiKey: new Secret(stack.service.apiKey) };
}
