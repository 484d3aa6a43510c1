/** Tests what messages say about programs that `execFile` has run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { failedExecution } from '../../stack/process/failed-execution';

const failureOf = (script: string, timeout = 0): Promise<unknown> =>
  promisify(execFile)('/bin/sh', ['-c', script], { timeout }).catch((error: unknown) => error);

test.each([
  ['exit 3', 'failed with exit code 3'],
  ['echo "no such option" >&2; exit 1', 'failed with exit code 1: no such option'],
  ['kill -SEGV $$', 'was ended by SIGSEGV'],
])('after %s, the program %s', async (script, text) => {
  expect(failedExecution(await failureOf(script))).toBe(text);
});

test('a program that has exceeded its time limit did not finish', async () => {
  expect(failedExecution(await failureOf('exec sleep 60', 200), 200)).toBe('did not finish within 0.2 seconds');
});

test('a program that could not be started keeps the message of Node', async () => {
  const error: unknown = await promisify(execFile)('/nonexistent/program').catch((reason: unknown) => reason);
  expect(failedExecution(error)).toMatch(/^failed: spawn \/nonexistent\/program ENOENT/);
});
