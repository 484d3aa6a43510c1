/**
 * Bundles the `ferry` command into one file, and creates V8's code cache for it. `bin/bundle.js` runs the bundle with
 * the cache. See docs/decisions/0028-one-file-for-the-command.md.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * The parts of `dist/` that the bundle loads as separate files, because most commands do not need them: OpenTelemetry,
 * and the parts of commands that run servers. `bin/ferry.js` runs these commands without the bundle. The folder of the
 * codec server also contains `access.js`, which every command that reads the configuration loads.
 */
const LEFT_OUT = ['stack/', 'security/codec-server', 'portal/server', 'security/log', 'observability/open-telemetry'];

/**
 * Bundles `dist/cli/main.js`.
 *
 * @returns the bundle in ASCII: the code in a function, and its SHA-256 hash
 */
export async function bundle(dist) {
  const leaveOut = {
    name: 'leave-out',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\./ }, ({ path: name, resolveDir }) => {
        const file = path.relative(dist, path.resolve(resolveDir, name)).replaceAll(path.sep, '/');
        return LEFT_OUT.some((part) => file.startsWith(part)) ? { path: `./${file}`, external: true } : null;
      }),
  };
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [path.join(dist, 'cli', 'main.js')],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    lineLimit: 160, // because Node prints the line of an uncaught error
    legalComments: 'none',
    logLevel: 'error',
    plugins: [leaveOut],
  });
  const code = `(function (exports, require, module, __filename, __dirname) {${inAscii(outputFiles[0].text)}})`;
  return `${code}\n// ${createHash('sha256').update(code).digest('hex')}`;
}

/** Escapes the non-ASCII characters, which esbuild leaves in regular expressions. */
const inAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Creates the cache of a bundle in a separate process, because the cache contains the code that V8 compiles while the
 * command runs. The process gets none of our environment variables except the one that Windows needs for sockets.
 */
export async function createCache(bundle) {
  const program = fileURLToPath(new URL('cache-command.mjs', import.meta.url));
  await promisify(execFile)(process.execPath, [program, bundle], { env: { SystemRoot: process.env.SystemRoot } });
}
