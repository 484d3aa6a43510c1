/**
 * Starts `npm run demo`, `npm run bench`, `npm run chaos`, `npm run cluster`, `npm run images:test`, `npm run
 * conformance` (which also needs Python 3) and `npm test` on a machine that has only Node and npm: installs the
 * packages, builds, finds or installs Temporal's command, and then runs the task. The task `prepare` stops before that
 * last step. Prints nothing about steps that are already done. This file and its static imports use only Node's own
 * modules, because they run before any package is installed.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './lock-file.mjs';
import { installPackages } from './packages.mjs';

const OLDEST_NODE = [20, 19];
const root = fileURLToPath(new URL('..', import.meta.url));
/** Logs to standard error, because other programs can be reading the standard output of a task. */
const log = (line) => console.error(`[setup] ${line}`);

/**
 * Installs and builds everything.
 *
 * @returns the environment for the task. It contains the path of Temporal's command, so the task does not search again.
 */
async function prepare() {
  await oneAtATime(path.join(root, '.preparing.lock'), log, async () => {
    await installPackages(log);
    const { build } = await import('./build.mjs');
    await build(log);
  });
  const { acquireTemporalCli } = createRequire(import.meta.url)('../dist/stack/temporal/cli.js');
  return { ...process.env, TEMPORAL_CLI_PATH: await acquireTemporalCli({ env: process.env, log }) };
}

/** The compiled program of each task except `test` and `prepare`. */
const PROGRAMS = {
  demo: 'scripts/demo.js',
  bench: 'bench/main.js',
  chaos: 'chaos/main.js',
  cluster: 'chaos/cluster-main.js',
  'images:test': 'chaos/images-main.js',
  conformance: 'scripts/conformance.js',
};

/** Runs a program in this process, so that the program receives each signal directly and only once. */
function runInThisProcess(program, args, env) {
  const main = path.join(root, 'dist', program);
  process.env.TEMPORAL_CLI_PATH = env.TEMPORAL_CLI_PATH;
  process.argv = [process.execPath, main, ...args];
  process.setSourceMapsEnabled(true);
  createRequire(main)(main);
}

async function main([task, ...args]) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    throw new Error(
      `Node ${OLDEST_NODE.join('.')} or later is required, but this is ${process.versions.node}. See https://nodejs.org`,
    );
  }
  const env = await prepare();
  if (task === 'prepare') return;
  if (task in PROGRAMS) return runInThisProcess(PROGRAMS[task], args, env);
  const { runTests } = await import('./checks.mjs');
  // With this variable, jest's set-up neither builds nor searches for the command: see test/support/jest/global-setup.ts.
  process.exitCode = await runTests(args, { ...env, TOKENFERRY_TEST_TEMPORAL_CLI: env.TEMPORAL_CLI_PATH });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
