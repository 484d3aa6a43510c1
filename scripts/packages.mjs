/** Installs the packages of package-lock.json where `node_modules` does not hold just those. Knows nothing but Node. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function installPackages(log) {
  if (packagesAreInstalled()) return;
  log('Installing the packages with npm ci: about a minute, more on a slow line.');
  const arguments_ = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // npm says where it is when it runs us; by its name alone it could be another version, or not on the PATH.
  const npm = process.env.npm_execpath;
  const code = npm?.endsWith('.js') ? await run(process.execPath, [npm, ...arguments_]) : await run('npm', arguments_);
  if (code !== 0)
    throw new Error('npm ci failed: see above. The packages come from the registry that npm is configured for.');
}

/**
 * Compares what npm says it has installed (it writes that last, so an interrupted installation has none) with the lock
 * file. Their times would not do: a checkout touches files that it does not change.
 */
function packagesAreInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  const wanted = packagesOf('package-lock.json');
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([name, { version, optional, devOptional }]) => {
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
