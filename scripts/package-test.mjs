/**
 * `npm run package:test [-- <version>...]`: packs the project and tries the package as its users would. For each
 * version of Node, it installs the package in an empty folder, starts the servers with `ferry up`, starts a migration,
 * and runs the example of the programmatic client. At the same time, it runs the demo of this clone with each version.
 * It also installs the package as docs/deploying.md says, checks that the packages have the versions of
 * package-lock.json, and compiles a program against the package's types. Installs each version of Node in a temporary
 * folder.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The oldest version that works, and the major versions that the Node project supports at the moment. */
const VERSIONS = ['20.19', '22', '24'];
const UP_WITHIN_MS = 120_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const example = path.join(root, 'examples', 'quickbooks-online-25', 'manifest.csv');
const run = promisify(execFile);
/** The path of npm's program, set by `npm run`. Each version of Node runs this program. */
const npm = process.env.npm_execpath;
const environment = withoutNpmVariables(process.env);

/**
 * Removes the variables that `npm run` sets, because they would make the inner npm work on this project. Keeps those
 * that configure the registry, the cache and the proxy.
 */
function withoutNpmVariables(env) {
  const kept = /^npm_config_(registry|cache|proxy|https_proxy|cafile)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name) || kept.test(name)));
}

async function main(versions) {
  if (npm === undefined) throw new Error('start this with: npm run package:test');
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-package-'));
  try {
    const { stdout } = await run(process.execPath, [npm, 'pack', '--silent', '--pack-destination', folder], {
      cwd: root,
      env: environment,
    });
    const tarball = path.join(folder, stdout.trim().split('\n').at(-1));
    const nodes = await Promise.all(
      versions.map((version) => installNode(version, path.join(folder, `node-${version}`))),
    );
    const packageFolder = (version) => path.join(folder, `package-${version}`);
    // These sequences run at the same time, because each of them mostly waits. Two packages cannot be tried at the same
    // time, because `ferry up` needs its ports.
    const sequences = [
      async () => {
        for (const [index, version] of versions.entries()) {
          await tryPackage(nodes[index], tarball, packageFolder(version));
          console.log(`passed: package with Node ${await exactVersion(nodes[index])}`);
        }
        await compileAgainst(packageFolder(versions[0]));
        console.log('passed: the types of the package');
      },
      async () => {
        for (const node of nodes) {
          await run(node, [path.join(root, 'scripts', 'bootstrap.mjs'), 'demo'], { cwd: root, env: environment });
          console.log(`passed: demo with Node ${await exactVersion(node)}`);
        }
      },
      async () => {
        await deploy(nodes[0], tarball, path.join(folder, 'deployed'));
        console.log('passed: a deployment has the versions of package-lock.json');
      },
    ];
    // Waits for all of them, because the folder is deleted afterwards.
    const results = await Promise.allSettled(sequences.map((sequence) => sequence()));
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Installs a version of Node and returns its path. */
async function installNode(version, folder) {
  await install(process.execPath, folder, `node@${version}`);
  return path.join(folder, 'node_modules', 'node', 'bin', 'node');
}

async function exactVersion(node) {
  return (await run(node, ['--version'])).stdout.trim();
}

async function install(node, folder, ...packages) {
  mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ private: true }));
  const env = { ...environment, PATH: `${path.dirname(node)}${path.delimiter}${environment.PATH}` };
  await run(node, [npm, 'install', '--no-audit', '--no-fund', ...packages], { cwd: folder, env });
}

/** Installs the package as docs/deploying.md says, and compares the installed packages with the lock file. */
async function deploy(node, tarball, folder) {
  mkdirSync(folder);
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1']);
  const env = { ...environment, PATH: `${path.dirname(node)}${path.delimiter}${environment.PATH}` };
  await run(node, [npm, 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, env });
  await expectOutput(run(node, [path.join(folder, 'bin', 'ferry.js'), '--version']), /^\d+\.\d+\.\d+/);
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const needed = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true);
  const wrong = needed.filter(([place, { version, optional }]) => {
    const manifest = path.join(folder, place, 'package.json');
    if (!existsSync(manifest)) return optional !== true;
    return JSON.parse(readFileSync(manifest, 'utf8')).version !== version;
  });
  if (wrong.length > 0)
    throw new Error(`these packages do not match package-lock.json: ${wrong.map(([place]) => place).join(', ')}`);
}

async function tryPackage(node, tarball, folder) {
  await install(node, folder, tarball);
  copyFileSync(path.join(root, 'examples', 'client', 'waiting.mjs'), path.join(folder, 'waiting.mjs'));
  const env = { ...environment, TOKENFERRY_HOME: path.join(folder, 'home') };
  const ferry = (...args) =>
    run(node, [path.join('node_modules', 'tokenferry', 'bin', 'ferry.js'), ...args], { cwd: folder, env });
  await expectOutput(ferry('--version'), /^\d+\.\d+\.\d+/);
  const up = spawn(node, [path.join('node_modules', 'tokenferry', 'bin', 'ferry.js'), 'up'], {
    ...{ cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  let log = '';
  for (const stream of [up.stdout, up.stderr]) stream.on('data', (text) => (log += text));
  const ended = once(up, 'exit');
  try {
    const isUp = (async () => {
      for (const deadline = Date.now() + UP_WITHIN_MS; Date.now() < deadline; await delay(200)) {
        if (existsSync(path.join(env.TOKENFERRY_HOME, 'stack.json'))) return true;
      }
      return false;
    })();
    if ((await Promise.race([isUp, ended])) !== true) throw new Error(`ferry up did not start:\n${log}`);
    await ferry(...['start', example, '--platform', 'quickbooks-online', '--client', 'acme', '--by', 'Sam']);
    await expectOutput(run(node, ['waiting.mjs'], { cwd: folder, env }), /^acme\.quickbooks-online: waiting, step /m);
    await expectOutput(ferry('doctor'), /No problems found\./);
  } finally {
    up.kill('SIGINT');
    await ended;
  }
  if (up.exitCode !== 0) throw new Error(`ferry up exited with ${up.exitCode}:\n${log}`);
}

async function expectOutput(finished, pattern) {
  const { stdout } = await finished;
  if (!pattern.test(stdout)) throw new Error(`expected ${pattern}, but the output was:\n${stdout}`);
}

/** Compiles a program that uses the package's types, with TypeScript's option `--strict`. */
async function compileAgainst(folder) {
  writeFileSync(
    path.join(folder, 'program.mts'),
    `import { decide, findPlatform, loadConfig, openMigrationClient, type Progress } from 'tokenferry';
import { readManifest } from 'tokenferry/manifest';
const ferry = await openMigrationClient(loadConfig(['temporal', 'payloadKeys']));
const { outcome, text } = await decide(ferry, 'acme.quickbooks-online', 'pause', { role: 'support', by: 'Sam', reason: 'a check' });
const platform = findPlatform('xero');
export const errors: number | undefined = platform && (await readManifest({ manifest: 'a.csv' }, platform)).findings.errors;
export const state: Progress['state'] | string = outcome + text;
// @ts-expect-error there is no such decision
await decide(ferry, 'acme.quickbooks-online', 'approved', { role: 'support', by: 'Sam' });
`,
  );
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--skipLibCheck',
    'program.mts',
  ];
  await run(process.execPath, [path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...options], {
    cwd: folder,
  }).catch((error) => {
    throw new Error(`the types of the package do not compile:\n${error.stdout}`);
  });
}

try {
  const versions = process.argv.slice(2);
  await main(versions.length === 0 ? VERSIONS : versions);
} catch (error) {
  console.error(`FAILED: ${error.message}\n${error.stderr ?? ''}`);
  process.exitCode = 1;
}
