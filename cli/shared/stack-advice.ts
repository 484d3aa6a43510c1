/** Advice about a server that does not answer: it belongs either to the running stack or to the environment. */
import { ConfigurationError, loadConfig } from '../../config';

/** The end of the advice about a server that the environment configures, because it takes precedence over a stack. */
export const USE_STACK =
  'to use a stack on this machine instead, open a shell in which no variables name your servers or their keys, and run there: ferry up';

/** The advice about a part of the running stack. `ferry up` refuses to start a second stack in its home folder. */
export const RESTART_STACK = 'to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up';

/** Returns what to do if Temporal cannot be reached. */
export function temporalAdvice(isOfStack: boolean): string {
  return isOfStack
    ? RESTART_STACK
    : `start Temporal, or correct its address and credentials (TEMPORAL_ADDRESS, TEMPORAL_API_KEY or the profile); ${USE_STACK}`;
}

/** Returns what to do if Postgres cannot be reached. */
export function databaseAdvice(isOfStack: boolean): string {
  return isOfStack ? RESTART_STACK : `start Postgres, or correct DATABASE_URL; ${USE_STACK}`;
}

/** Returns whether Temporal and its workers are those of the running stack. */
export function isStackUsed(env: NodeJS.ProcessEnv): boolean {
  try {
    return loadConfig([], env, ['stackCodecUrl']).stackCodecUrl !== undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}

/** Returns whether the ledger's database is that of the running stack. */
export function isStackDatabaseUsed(env: NodeJS.ProcessEnv): boolean {
  return isStackUsed(env) && !isFromEnvironment(env, 'DATABASE_URL');
}

/** Returns whether the environment sets a variable, or the file that contains its value. */
export function isFromEnvironment(env: NodeJS.ProcessEnv, variable: string): boolean {
  return Boolean(env[variable] || env[`${variable}_FILE`]);
}
