import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** Larger than any report of a run. */
const MAX_OUTPUT_BYTES = 2 ** 28;
const DIST = path.join(__dirname, '..', '..');

/**
 * Runs `ferry` and returns its output.
 *
 * @param dist the folder of the compiled product; default: that of this build
 * @throws if it ends with an error
 */
export async function runFerry(env: NodeJS.ProcessEnv, args: readonly string[], dist: string = DIST): Promise<string> {
  const command = [path.join(dist, 'cli', 'main.js'), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}
