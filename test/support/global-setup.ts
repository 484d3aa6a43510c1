import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { testNamespaces, type JestRun } from './namespaces';
import { TEMPORAL_CLI } from './servers';
import { offerServers } from './shared-servers';

/** Prepares a run: the build, the `temporal` command, and the servers that tests share, which start when asked for. */
export default async function globalSetup({ maxWorkers }: JestRun): Promise<void> {
  // `npm test` has prepared both, and says so; jest was started directly otherwise.
  if (process.env[TEMPORAL_CLI] === undefined) {
    // The workflow bundle, and the compiled programs that tests run as processes.
    execFileSync(process.execPath, [path.join(__dirname, '../../scripts/build.mjs')], { stdio: 'inherit' });
    process.env[TEMPORAL_CLI] = await acquireTemporalCli({ env: process.env, log: console.log });
  }
  await offerServers(testNamespaces(maxWorkers));
}
