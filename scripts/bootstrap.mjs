/**
 * Starts `npm run demo`, `npm run bench`, `npm run conformance` and `npm test` on a machine that has only Node and npm:
 * installs the packages, builds, finds or makes Temporal's command, and then runs the task; the task `prepare` does
 * nothing else. Runs before any package is installed, so this file and its static imports need only Node. Prints
 * nothing when nothing is missing.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './lock-file.mjs';
import { installPackages } from './packages.mjs';

const OLDEST_NODE = [20, 19];
const root = fileURLToPath(new URL('..', import.meta.url));
/** Not where programs print what other programs read. */
const log = (line) => console.error(`[setup] ${line}`);

/** @returns the environment for what comes next: it names the Temporal command, which is then not looked for again. */
async function prepare() {
  await oneAtATime(path.join(root, '.preparing'), log, async () => {
    await installPackages(log);
    const { build } = await import('./build.mjs');
    await build(log);
  });
  const { acquireTemporalCli } = createRequire(import.meta.url)('../dist/stack/temporal/cli.js');
  return { ...process.env, TEMPORAL_CLI_PATH: await acquireTemporalCli({ env: process.env, log }) };
}

/** The programs of the build that are run in this way. */
const PROGRAMS = { demo: 'scripts/demo.js', bench: 'bench/main.js', conformance: 'scripts/conformance.js' };

/** In this very process, so that a signal reaches the program directly, and once. */
function become(program, args, env) {
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
      `Node ${OLDEST_NODE.join('.')} or later is needed; this is ${process.versions.node}: https://nodejs.org`,
    );
  }
  const env = await prepare();
  if (task === 'prepare') return;
  if (task in PROGRAMS) return become(PROGRAMS[task], args, env);
  const { runTests } = await import('./checks.mjs');
  // Jest's set-up then prepares neither the build nor the command again: see test/support/global-setup.ts.
  process.exitCode = await runTests(args, { ...env, TOKENFERRY_TEST_TEMPORAL_CLI: env.TEMPORAL_CLI_PATH });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
