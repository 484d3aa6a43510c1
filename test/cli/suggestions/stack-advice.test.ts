/** Tests that the advice about a server that does not answer depends on whose server it is. */
import { DatabaseError } from 'pg';
import { CommandFailed, withAdvice } from '../../../cli/shared/errors';
import { databaseAdvice, serviceAdvice } from '../../../cli/suggestions/stack-advice';
import { Unreachable } from '../../../client';
import { writeRunningStack, type RunningStack } from '../../../config';
import { createTemporaryFolder } from '../../../stack/folders';
import { DatabaseUnavailable, LedgerMissing } from '../../../store';

const RESTART = 'to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up';
const EXTERNAL = 'which ferry up does not start; then press Ctrl-C in the terminal of ferry up, and run: ferry up';
const START_EXTERNAL =
  'first make sure that this Postgres, which ferry up does not start, is running and has free connections and disk space; then press Ctrl-C in the terminal of ferry up, and run: ferry up';
const OTHER_SHELL = 'open a shell without the environment variables for your servers and keys (docs/configuration.md)';
const START_STACK = `to use a stack on this machine instead, ${OTHER_SHELL}, and run there: ferry up`;

const TEMPORAL = new Unreachable('Temporal', '127.0.0.1:1');
const POSTGRES = new Unreachable('Postgres', '127.0.0.1:1');
const DATABASE = new DatabaseUnavailable('the database at host/db cannot be used: no');

const NO_LEDGER = new LedgerMissing('postgres://host/db');

const home = createTemporaryFolder();
const adviceIn = (error: Error, env: NodeJS.ProcessEnv) => {
  const failure = withAdvice(error, { TOKENFERRY_HOME: home, ...env });
  return failure instanceof CommandFailed ? failure.advice : undefined;
};

/** Writes the file of a running stack, with only the required parts and `changes`. */
const runStack = (changes: Partial<RunningStack> = {}) =>
  writeRunningStack(home, {
    ...{ pid: process.pid, temporal: { address: '127.0.0.1:1', namespace: 'default' }, databaseUrl: 'postgres://a/b' },
    ...{ service: { url: 'http://127.0.0.1:1', apiKey: 'key' }, masterKeyFile: '/nowhere' },
    ...{ vaultSecretsFolder: '/nowhere', payloadKeyFile: '/nowhere', ...changes },
  });

test.each<[string, Error, advice: string]>([
  ['Temporal', TEMPORAL, RESTART],
  ['Postgres', POSTGRES, RESTART],
  ['a database', DATABASE, `check the database; ${RESTART}`],
  ['a database without a ledger', NO_LEDGER, `check the database; ${RESTART}`],
])('%s of the running stack is restarted with the stack', (_, error, advice) => {
  runStack();
  expect(adviceIn(error, {})).toBe(advice);
});

test.each<[string, Error, advice: string]>([
  ['Temporal', TEMPORAL, RESTART],
  ['Postgres', POSTGRES, START_EXTERNAL],
  ['a database', DATABASE, `first check this Postgres, ${EXTERNAL}`],
])('a stack with an external Postgres does not start it: %s', (_, error, advice) => {
  runStack({ isDatabaseExternal: true });
  expect(adviceIn(error, {})).toBe(advice);
});

test('a shell that names the external Postgres of the stack gets the same advice', () => {
  runStack({ isDatabaseExternal: true, databaseUrl: 'postgres://a/b' });
  expect(adviceIn(POSTGRES, { DATABASE_URL: 'postgres://a/b' })).toBe(START_EXTERNAL);
  expect(adviceIn(DATABASE, { DATABASE_URL: 'postgres://a/b' })).toBe(`first check this Postgres, ${EXTERNAL}`);
  expect(adviceIn(POSTGRES, { DATABASE_URL: 'postgres://a/other' })).toContain('check that Postgres is running');
});

test.each<[string, Error, variable: string]>([
  ['Temporal', TEMPORAL, 'TEMPORAL_ADDRESS'],
  ['Postgres', POSTGRES, 'DATABASE_URL'],
  ['a database', DATABASE, 'DATABASE_URL'],
])('%s from the environment can be replaced by a stack', (_, error, variable) => {
  const env = { [variable]: 'postgres://other/ledger' };
  expect(adviceIn(error, { ...env, TOKENFERRY_HOME: '/nowhere' })).toContain(START_STACK);
  runStack();
  // A stack is already running, so the advice does not say to start one.
  expect(adviceIn(error, env)?.endsWith(`; to use the running stack instead, ${OTHER_SHELL}`)).toBe(true);
});

test('a database of the environment that contains no ledger is perhaps the wrong one', () => {
  runStack();
  const advice = 'check DATABASE_URL; if this is the first start, create the ledger with: ferry setup';
  expect(adviceIn(NO_LEDGER, { DATABASE_URL: 'postgres://other/ledger' })).toBe(advice);
});

test('the service is restarted with the stack, unless the environment names another one', () => {
  const env = { TOKENFERRY_HOME: '/nowhere', COMPANY_DATA_URL: 'http://127.0.0.1:1' };
  expect(serviceAdvice(env)).toBe(`start the service, or correct COMPANY_DATA_URL; ${START_STACK}`);
  runStack();
  expect(serviceAdvice({ TOKENFERRY_HOME: home })).toBe(RESTART);
});

test.each([
  ['28P01', 'correct the user name and the password in DATABASE_URL; '],
  ['28000', 'correct the user name in DATABASE_URL, or allow this user to connect from this machine; '],
  ['3D000', 'correct the name of the database in DATABASE_URL, or create the database; '],
  ['42501', 'correct the user name in DATABASE_URL, or make this user the owner of the database; '],
  ['53300', 'check that Postgres is running and has free connections and disk space, '],
])('the advice about a Postgres that refuses a connection depends on its reason: %s', (code, advice) => {
  const cause = Object.assign(new DatabaseError('no', 2, 'error'), { code });
  const error = new DatabaseUnavailable('the database at host/db cannot be used: no', { cause });
  expect(databaseAdvice({ TOKENFERRY_HOME: '/nowhere' }, error).startsWith(advice)).toBe(true);
});
