import path from 'node:path';
import envPaths from 'env-paths';

/** Outside the checkout, so that a second clone finds what the first has fetched or built. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const folder = env['XDG_CACHE_HOME'];
  return folder ? path.join(folder, 'tokenferry') : envPaths('tokenferry', { suffix: '' }).cache;
}
