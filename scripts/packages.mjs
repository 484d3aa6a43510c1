/**
 * Runs `npm ci` if `node_modules` differs from package-lock.json. Imports no npm packages, because they might not be
 * installed yet.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function installPackages(log) {
  if (packagesAreInstalled()) return;
  log('Installing packages with npm ci (about a minute, longer on a slow connection)');
  const npmArguments = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // Prefers the npm that runs this script, because the npm on the PATH can be another version, or missing.
  const npm = process.env.npm_execpath;
  const code = npm?.endsWith('.js')
    ? await run(process.execPath, [npm, ...npmArguments])
    : await run('npm', npmArguments);
  if (code !== 0) throw new Error('npm ci failed (see above). Check that npm can reach its configured registry.');
}

/**
 * Compares npm's record of installed packages with the lock file. npm writes the record last, so an interrupted
 * installation has none. File times would not work, because a checkout changes them.
 */
function packagesAreInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  const locked = packagesOf('package-lock.json');
  if (installed === undefined) return false;
  return Object.entries(locked).every(([name, { version, optional, devOptional }]) => {
    if (name === '') return true;
    return name in installed ? installed[name].version === version : Boolean(optional || devOptional);
  });
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(path.join(root, lockFile), 'utf8')).packages;
  } catch {
    return undefined;
  }
}
