import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { startPostgres } from '../../stack/postgres/postgres';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { startTemporal } from '../../stack/temporal/server';
import { createTemporaryFolder } from '../../stack/temporary-folder';
import { testNamespaces } from './namespaces';
import { servers } from './servers';

/** Starts what the tests share, once for a whole run: a real Postgres and Temporal's own dev server. */
export default async function globalSetup(): Promise<void> {
  // The build's workflow bundle, and the compiled programs that tests run as processes.
  execFileSync(process.execPath, [path.join(__dirname, '../../scripts/build.mjs')], { stdio: 'inherit' });
  const dataFolder = createTemporaryFolder();
  const log = console.log;
  const cli = await acquireTemporalCli({ env: process.env, log });
  const starts = await Promise.allSettled([
    startPostgres({ dataFolder, port: 0, ephemeral: true, log }),
    startTemporal({ cli, dataFolder, port: 0, uiPort: 0, ephemeral: true, namespaces: testNamespaces() }),
  ]);
  for (const start of starts) if (start.status === 'fulfilled') servers.push(start.value);
  const [postgres, temporal] = starts;
  if (postgres.status === 'rejected') throw postgres.reason;
  if (temporal.status === 'rejected') throw temporal.reason;

  process.env['TOKENFERRY_TEST_POSTGRES'] = postgres.value.url;
  process.env['TOKENFERRY_TEST_TEMPORAL'] = temporal.value.address;
  process.env['TOKENFERRY_TEST_TEMPORAL_CLI'] = cli;
}
