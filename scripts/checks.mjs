/** Runs the checks of `npm test`: jest and, in parallel, the static checks, each of which counts as one test. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, runCaptured } from './run.mjs';

/** The folder of jest's cache and results. */
const CACHE = 'node_modules/.cache';

/** If more test files than this fail, a busy machine is unlikely to be the cause. */
const MOST_FILES_REPEATED = 5;

const root = fileURLToPath(new URL('..', import.meta.url));

/** The static checks, in the order in which they run. */
const CHECKS = {
  'lint and types': ['oxlint', '.'],
  format: ['oxfmt', '--list-different', '.'],
  imports: ['depcruise', '.', '--config', '.dependency-cruiser.cjs'],
  unused: ['knip'],
};

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
  const checking = runChecks(env);
  const [checks, tests] = await Promise.all([checking, runJest(env, checking)]);
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

/**
 * Runs jest. If only a few files have tests that fail, runs these files once more, one at a time and without the static
 * checks: on a busy machine, a test can exceed its time limit. For these files, only the second run counts. The
 * output names the files that passed the second time.
 *
 * @param checks resolves when the static checks have ended
 */
async function runJest(env, checks) {
  const first = await runFiles([], env);
  const suspects = first.failedFiles;
  if (suspects.length === 0 || suspects.length > MOST_FILES_REPEATED) return first;
  await checks;
  console.log(`Running again, one at a time: ${suspects.join(', ')}`);
  const second = await runFiles(['--runInBand', '--runTestsByPath', ...suspects], env);
  // If no test has passed, no file has passed. Jest might not even have written results.
  const unsteady = second.passed === 0 ? [] : suspects.filter((file) => !second.failedFiles.includes(file));
  if (unsteady.length > 0) console.log(`FLAKY: failed, then passed when run alone: ${unsteady.join(', ')}`);
  return { passed: first.passedInOtherFiles + second.passed, failed: second.failed };
}

/** Runs jest once. A run that fails without a failed test, for example in its teardown, counts as one failed test. */
async function runFiles(args, env) {
  // Not in the system's temporary folder, because an interrupted run does not remove the file.
  const results = fileURLToPath(new URL(`../${CACHE}/jest-results-${process.pid}.json`, import.meta.url));
  try {
    const code = await run(tool('jest'), ['--json', `--outputFile=${results}`, ...args], env);
    const { testResults, numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(results, 'utf8'),
    );
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const failedFiles = testResults.filter(({ status }) => status === 'failed');
    const passedInFailed = failedFiles.flatMap(({ assertionResults }) => assertionResults).filter(isPassed).length;
    return {
      passed: numPassedTests,
      failed: code === 0 ? failed : Math.max(failed, 1),
      passedInOtherFiles: numPassedTests - passedInFailed,
      failedFiles: failedFiles.map(({ name }) => relative(root, name)),
    };
  } catch {
    console.log('FAILED: jest wrote no results');
    return { passed: 0, failed: 1, passedInOtherFiles: 0, failedFiles: [] };
  } finally {
    rmSync(results, { force: true });
  }
}

function isPassed({ status }) {
  return status === 'passed';
}
