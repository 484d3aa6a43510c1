import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import envPaths from 'env-paths';

/**
 * Creates a temporary folder for one run. Other users can enter it but not list it, because Postgres sometimes runs as
 * another user. Secret files in the folder have stricter permissions.
 */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-'));
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Returns Tokenferry's folder in the user's cache. It is outside the checkout, so that all clones share downloads and
 * builds.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const folder = env['XDG_CACHE_HOME'];
  return folder ? path.join(folder, 'tokenferry') : envPaths('tokenferry', { suffix: '' }).cache;
}
