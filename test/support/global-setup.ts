import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { testNamespaces, type JestRun } from './namespaces';
import { TEMPORAL_CLI } from './servers';
import { offerServers } from './shared-servers';

/** Prepares a run: the build, the `temporal` command, and the shared servers, which start when a test needs them. */
export default async function globalSetup({ maxWorkers }: JestRun): Promise<void> {
  // This variable is set if `npm test` has prepared the build and the command. Otherwise jest was started directly.
  if (process.env[TEMPORAL_CLI] === undefined) {
    // Builds the workflow bundle, and the compiled programs that tests run as processes.
    execFileSync(process.execPath, [path.join(__dirname, '../../scripts/build.mjs')], { stdio: 'inherit' });
    process.env[TEMPORAL_CLI] = await acquireTemporalCli({ env: process.env, log: console.log });
  }
  await offerServers(testNamespaces(maxWorkers));
}
