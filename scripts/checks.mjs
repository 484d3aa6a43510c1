/** Runs the checks of `npm test`: jest and, in parallel, the static checks, each of which counts as one test. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run, runCaptured } from './run.mjs';

/** The folder of the tools' caches. With a cache, a tool checks only files that have changed. */
const CACHE = 'node_modules/.cache';

/** The static checks, in the order in which they run. */
const CHECKS = {
  // CI uses no cache here, because the result of a rule that needs types depends on more files than the linted one.
  lint: ['eslint', '.', '--max-warnings', '0', ...(process.env.CI ? [] : cachedByContent('eslint'))],
  types: ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', `${CACHE}/tsc.tsbuildinfo`],
  format: ['prettier', '--check', '--log-level', 'warn', ...cachedByContent('prettier'), '.'],
  imports: ['depcruise', '.', '--config', '.dependency-cruiser.cjs'],
  unused: ['knip'],
};

function cachedByContent(tool) {
  return ['--cache', '--cache-strategy', 'content', '--cache-location', `${CACHE}/${tool}.json`];
}

/** Returns the path of a program that is installed in this checkout. */
function tool(name) {
  return fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
}

/**
 * Runs jest with the given arguments. Without arguments, runs everything and prints the totals as the last line.
 *
 * @returns the exit code
 */
export async function runTests(args, env) {
  if (args.length > 0) return run(tool('jest'), args, env);

  mkdirSync(fileURLToPath(new URL(`../${CACHE}`, import.meta.url)), { recursive: true });
  // The checks run in parallel with jest, because its tests mostly wait. The checks themselves run one at a time,
  // because each needs a core.
  const [checks, tests] = await Promise.all([runChecks(env), runJest(env)]);
  const failed = checks.failed + tests.failed;
  console.log(`${checks.passed + tests.passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runChecks(env) {
  const totals = { passed: 0, failed: 0 };
  for (const [check, [name, ...args]] of Object.entries(CHECKS)) {
    const { code, output } = await runCaptured(tool(name), args, env);
    process.stdout.write(`${output}${code === 0 ? 'passed' : 'FAILED'}: ${check}\n`);
    totals[code === 0 ? 'passed' : 'failed'] += 1;
  }
  return totals;
}

async function runJest(env) {
  // Not in the system's temporary folder, because an interrupted run does not remove the file.
  const results = fileURLToPath(new URL(`../${CACHE}/jest-results-${process.pid}.json`, import.meta.url));
  try {
    const code = await run(tool('jest'), ['--json', `--outputFile=${results}`], env);
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(results, 'utf8'));
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    return { passed: numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) };
  } catch {
    console.log('FAILED: jest wrote no results');
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(results, { force: true });
  }
}
