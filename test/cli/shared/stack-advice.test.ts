/** Tests that the advice about a server that does not answer depends on whose server it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommandFailed, withAdvice } from '../../../cli/shared/errors';
import { Unreachable } from '../../../client';
import { writeRunningStack } from '../../../config';
import { DatabaseUnavailable } from '../../../store';

test.each<[string, Error, variable: string]>([
  ['Temporal', new Unreachable('Temporal', '127.0.0.1:1'), 'TEMPORAL_ADDRESS'],
  ['Postgres', new Unreachable('Postgres', '127.0.0.1:1'), 'DATABASE_URL'],
  ['a database', new DatabaseUnavailable('the database at host/db cannot be used: no'), 'DATABASE_URL'],
])('the advice about %s depends on whether it belongs to the running stack', (_, error, variable) => {
  const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const adviceIn = (env: NodeJS.ProcessEnv) => {
    const failure = withAdvice(error, { TOKENFERRY_HOME: home, ...env });
    return failure instanceof CommandFailed ? failure.advice : undefined;
  };
  try {
    writeRunningStack(home, {
      ...{
        pid: process.pid,
        temporal: { address: '127.0.0.1:1', namespace: 'default' },
        databaseUrl: 'postgres://a/b',
      },
      ...{ codecUrl: 'http://127.0.0.1:1', service: { url: 'http://127.0.0.1:1', apiKey: 'key' } },
      ...{ masterKeyFile: '/nowhere', vaultSecretsFolder: '/nowhere', payloadKeyFile: '/nowhere' },
    });
    expect(adviceIn({})).toMatch(/to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up$/);
    expect(adviceIn({ [variable]: 'postgres://other/ledger' })).toMatch(/no variables name your servers .*: ferry up$/);
  } finally {
    rmSync(home, { recursive: true });
  }
});
