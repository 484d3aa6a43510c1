/** Advice about a server that does not answer. The server is part of the running stack, or the environment names it. */
import { ConfigurationError, loadConfig, type Config } from '../../config';
import type { DatabaseUnavailable } from '../../store';

/**
 * Returns how to use a stack on this machine instead of a server that the environment configures. The shell must not
 * have the environment variables, because they take precedence over a stack.
 */
function useStack(env: NodeJS.ProcessEnv): string {
  const shell = 'open a shell without the environment variables for your servers and keys (docs/configuration.md)';
  return readStack(env) === undefined
    ? `to use a stack on this machine instead, ${shell}, and run there: ferry up`
    : `to use the running stack instead, ${shell}`;
}

/** The advice about a part of the running stack. `ferry up` refuses to start a second stack in the same home folder. */
export const RESTART_STACK = 'to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up';

/** The advice if a newer version of ferry has updated the schema of the ledger. */
export const USE_VERSION_OF_SCHEMA = 'use the version of ferry that has updated this database';

/** Returns what to do if Temporal cannot be reached. */
export function temporalAdvice(env: NodeJS.ProcessEnv): string {
  return isStackUsed(env)
    ? RESTART_STACK
    : `start Temporal, or correct its address and credentials (TEMPORAL_ADDRESS, TEMPORAL_API_KEY or your Temporal profile); ${useStack(env)}`;
}

/** Returns what to do if the Company Data Service cannot be reached. */
export function serviceAdvice(env: NodeJS.ProcessEnv): string {
  return isFromEnvironment(env, 'COMPANY_DATA_URL')
    ? `start the service, or correct COMPANY_DATA_URL; ${useStack(env)}`
    : RESTART_STACK;
}

type Stack = Config<'runningStack'>['runningStack'];

/** The part that configures the database: the environment, or a running stack with its own or an external Postgres. */
type DatabaseSource = 'environment' | 'stack' | 'stack with an external Postgres';

/** The corrections of the environment that help if Postgres answers but refuses, by the code of its reason. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'correct the user name and the password in DATABASE_URL',
  '28000': 'correct the user name in DATABASE_URL, or allow this user to connect from this machine',
  '3D000': 'correct the name of the database in DATABASE_URL, or create the database',
  '42501': 'correct the user name in DATABASE_URL, or make this user the owner of the database',
};

/**
 * Returns what to do if Postgres cannot be reached or used. The advice omits its address, because the error names it.
 *
 * @param failure decides whether starting Postgres can be enough. By default, Postgres cannot be reached
 */
export function databaseAdvice(env: NodeJS.ProcessEnv, failure?: DatabaseUnavailable | 'unclear'): string {
  const error = failure === 'unclear' ? undefined : failure;
  const answers = failure !== undefined && !error?.isOutage;
  const refusal = REFUSALS[error?.serverCode ?? ''];
  const source = databaseSourceOf(env);
  const usable = 'is running and has free connections and disk space';
  switch (source) {
    case 'environment': {
      const check = `check that Postgres ${usable}, and that DATABASE_URL is correct`;
      return `${answers ? (refusal ?? 'check the database') : check}; ${useStack(env)}`;
    }
    case 'stack':
      return answers ? `check the database; ${RESTART_STACK}` : RESTART_STACK;
    case 'stack with an external Postgres': {
      // The stack does not start without this Postgres.
      const postgres = 'this Postgres, which ferry up does not start';
      const first = answers ? `check ${postgres}` : `make sure that ${postgres}, ${usable}`;
      return `first ${first}; then press Ctrl-C in the terminal of ferry up, and run: ferry up`;
    }
  }
}

/** Returns what to do if the database contains no ledger. The advice omits its address, because the error names it. */
export function missingLedgerAdvice(env: NodeJS.ProcessEnv): string {
  return databaseSourceOf(env) === 'environment'
    ? 'check DATABASE_URL; if this is the first start, create the ledger with: ferry setup'
    : databaseAdvice(env, 'unclear');
}

/**
 * Returns what to do if Temporal has migrations that the ledger does not have.
 *
 * @param count the number of these migrations
 */
export function otherLedgerAdvice(count = 1): string {
  const these = count === 1 ? 'this migration' : 'these migrations';
  return `check that DATABASE_URL names the ledger of ${these}; if the ledger was restored from a backup, docs/backup.md says what to do next`;
}

function databaseSourceOf(env: NodeJS.ProcessEnv): DatabaseSource {
  const stack = readStack(env);
  if (!stack?.isUsed) return 'environment';
  if (isFromEnvironment(env, 'DATABASE_URL') && !isDatabaseOfStack(env, stack)) return 'environment';
  return stack.isDatabaseExternal ? 'stack with an external Postgres' : 'stack';
}

/** Returns whether `DATABASE_URL` names the stack's database, for example because `ferry up` had the same variable. */
function isDatabaseOfStack(env: NodeJS.ProcessEnv, stack: Stack): boolean {
  const databaseUrl = ifConfigured(() => loadConfig([], env, ['databaseUrl']).databaseUrl);
  return databaseUrl?.reveal() === stack.databaseUrl.reveal();
}

/** Returns whether Temporal and its workers are those of the running stack. */
export function isStackUsed(env: NodeJS.ProcessEnv): boolean {
  return readStack(env)?.isUsed ?? false;
}

function readStack(env: NodeJS.ProcessEnv): Stack | undefined {
  return ifConfigured(() => loadConfig([], env, ['runningStack']).runningStack);
}

/** Returns what a function reads from the configuration; undefined if the configuration is invalid. */
function ifConfigured<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}

/** Returns whether the environment sets a variable, or the file that contains its value. */
function isFromEnvironment(env: NodeJS.ProcessEnv, variable: string): boolean {
  return Boolean(env[variable] || env[`${variable}_FILE`]);
}
