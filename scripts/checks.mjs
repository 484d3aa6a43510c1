/** What `npm test` runs: the static checks, each of which counts as one test, and jest. */
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

const CHECKS = {
  types: ['tsc', '--noEmit'],
  lint: ['eslint', '.', '--max-warnings', '0'],
  arrows: ['depcruise', '.', '--config', '.dependency-cruiser.cjs'],
  unused: ['knip'],
  format: ['prettier', '--check', '--log-level', 'warn', '.'],
};

/** Runs one of the checks' programs, as installed in this checkout. */
function runTool(name, args, env) {
  return run(fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url)), args, env);
}

/** With arguments, jest alone and as they say; without, everything, and a last line with the sum. Resolves with the exit code. */
export async function runTests(args, env) {
  if (args.length > 0) return runTool('jest', args, env);

  const sum = { passed: 0, failed: 0 };
  for (const [check, [tool, ...toolArgs]] of Object.entries(CHECKS)) {
    const passed = (await runTool(tool, toolArgs, env)) === 0;
    console.log(`${passed ? 'passed' : 'FAILED'}: ${check}`);
    sum[passed ? 'passed' : 'failed'] += 1;
  }
  const tests = await runJest(env);
  console.log(`${sum.passed + tests.passed} passed, ${sum.failed + tests.failed} failed`);
  return sum.failed + tests.failed === 0 ? 0 : 1;
}

async function runJest(env) {
  // Not in the system's folder for temporary files: a run that is interrupted leaves it.
  const results = fileURLToPath(new URL(`../node_modules/.cache/jest-results-${process.pid}.json`, import.meta.url));
  try {
    const code = await runTool('jest', ['--json', `--outputFile=${results}`], env);
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
