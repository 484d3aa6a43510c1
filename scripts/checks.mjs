/** Runs what `npm test` checks: the static checks, each of which counts as one test, and jest beside them. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run, runCaptured } from './run.mjs';

/** Caches of the tools: a second run checks only what has changed. */
const CACHE = 'node_modules/.cache';

/** In the order in which they run: the longest first, because jest runs beside them. */
const CHECKS = {
  // Rules that need types also depend on other files than the linted one: where it counts, nothing is taken from a cache.
  lint: ['eslint', '.', '--max-warnings', '0', ...(process.env.CI ? [] : cachedByContent('eslint'))],
  types: ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', `${CACHE}/tsc.tsbuildinfo`],
  format: ['prettier', '--check', '--log-level', 'warn', ...cachedByContent('prettier'), '.'],
  arrows: ['depcruise', '.', '--config', '.dependency-cruiser.cjs'],
  unused: ['knip'],
};

function cachedByContent(tool) {
  return ['--cache', '--cache-strategy', 'content', '--cache-location', `${CACHE}/${tool}.json`];
}

/** Returns the path of a program that is installed in this checkout. */
function tool(name) {
  return fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
}

/** Runs jest with the arguments; without any, everything, and prints the sum as the last line. Resolves with the exit code. */
export async function runTests(args, env) {
  if (args.length > 0) return run(tool('jest'), args, env);

  mkdirSync(fileURLToPath(new URL(`../${CACHE}`, import.meta.url)), { recursive: true });
  // Jest's tests mostly wait, so the checks run beside them; one after the other, because each of them needs a core.
  const [checks, tests] = await Promise.all([runChecks(env), runJest(env)]);
  const failed = checks.failed + tests.failed;
  console.log(`${checks.passed + tests.passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runChecks(env) {
  const sum = { passed: 0, failed: 0 };
  for (const [check, [name, ...args]] of Object.entries(CHECKS)) {
    const { code, output } = await runCaptured(tool(name), args, env);
    process.stdout.write(`${output}${code === 0 ? 'passed' : 'FAILED'}: ${check}\n`);
    sum[code === 0 ? 'passed' : 'failed'] += 1;
  }
  return sum;
}

async function runJest(env) {
  // Not in the system's folder for temporary files: a run that is interrupted leaves it.
  const results = fileURLToPath(new URL(`../${CACHE}/jest-results-${process.pid}.json`, import.meta.url));
  try {
    const code = await run(tool('jest'), ['--json', `--outputFile=${results}`], env);
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(results, 'utf8'));
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    return { passed: numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) };
  } catch {
    console.log('FAILED: jest left no results');
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(results, { force: true });
  }
}
