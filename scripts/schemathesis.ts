import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../stack/folders';

/** Pinned, because the same seed gives the same requests only in the same version. */
const VERSION = '4.32.5';

const run = promisify(execFile);

/**
 * Returns the path of the schemathesis command. Installs it in a Python environment in the user's cache if necessary.
 *
 * @throws if Python 3 with `venv` is missing, or the package cannot be installed
 */
export async function acquireSchemathesis(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> {
  const folder = path.join(cacheFolder(env), `schemathesis-${VERSION}`);
  const bin = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const command = path.join(bin, 'schemathesis');
  if (existsSync(command)) return command;
  log(`Installing schemathesis ${VERSION} from PyPI (once, a few seconds).`);
  try {
    await run('python3', ['-m', 'venv', '--clear', folder]);
    await run(path.join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', `schemathesis==${VERSION}`]);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error('schemathesis could not be installed; it needs python3 with venv, and access to PyPI', {
      cause: error,
    });
  }
  return command;
}
