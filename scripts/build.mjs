/**
 * `npm run build`: compiles changed TypeScript files to `dist/` with swc, and builds three bundles: the workflow code
 * for Temporal's sandbox, the `ferry` command, and the portal's page. Does not check types, because a demo should not
 * have to wait for that: see `npm run lint`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync, version as swcVersion } from '@swc/core';
import { bundle, createCache } from './bundle-command.mjs';
import { bundlePage } from './bundle-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const RECORD = path.join(dist, '.built.json');
const WORKFLOWS = path.join(root, 'workflows', 'index.ts');
const INTERCEPTORS = path.join(root, 'workflows', 'interceptors.ts');
const CONVERTERS = {
  payloadConverterPath: path.join(root, 'security', 'payload-converter.ts'),
  failureConverterPath: path.join(root, 'security', 'failure-converter.ts'),
};
const BUNDLE = {
  workflowsPath: WORKFLOWS,
  workflowInterceptorModules: [INTERCEPTORS],
  ...CONVERTERS,
  // Evaluates modules once for all workflows instead of once for each, because no module contains a workflow's state.
  preloadModules: [WORKFLOWS, INTERCEPTORS, ...Object.values(CONVERTERS)],
};
const WORKFLOW_BUNDLE = path.join(dist, 'workflow-bundle.js');
const COMMAND = path.join(root, 'cli', 'main.ts');
const COMMAND_BUNDLE = path.join(dist, 'ferry.js');
const PAGE = path.join(root, 'portal', 'page');
const PAGE_BUNDLE = path.join(dist, 'portal', 'page', 'index.html');
/** Folders that have their own packages, or are bundled. */
const LEFT_OUT = [path.join('bench', 'peers', path.sep), path.join('portal', 'page', path.sep)];
/** The sources that the portal's page imports, and the script that bundles it. */
const PAGE_IMPORTS = /^(portal\/(client|contract)|domain|platforms|presentation\/wording|scripts\/bundle-page)/;

/**
 * The compiler's options. `ignoreDynamic` keeps `import()` instead of compiling it to `require()`. `lazy` loads a
 * package at its first use. Otherwise every `ferry` command would load the packages of all commands, including those
 * that only a worker or the service needs. `compileOrCopy` extends `lazy` to our own modules in some files.
 */
const COMPILER = {
  swcrc: false,
  configFile: false,
  sourceMaps: true,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  module: { type: 'commonjs', ignoreDynamic: true, lazy: true, exportInteropAnnotation: true },
};

/**
 * The files that load our own modules at their first use: each command needs only some of them, and few processes need
 * OpenTelemetry.
 */
const LAZY_FILES = /^((cli|client)\/|observability\/tracing\.ts$)/;
/** The sources of the bundled command, and the scripts that bundle it. */
const COMMAND_FILES = new RegExp(
  '^(cli|client|company-data-client|config|domain|observability|platforms|portal/(client|contract)|postgres|presentation|security|store|' +
    'workflows/messages|scripts/(bundle|cache)-command)',
);

/** Updates `dist/`. Logs only when it builds the workflow bundle, which takes seconds. */
export async function build(log = console.log) {
  const before = readRecord();
  const compiler = hash(JSON.stringify(COMPILER) + LAZY_FILES + swcVersion);
  const after = { compiler, files: {}, workflows: '', command: '', page: '' };
  const known = before.compiler === compiler ? before.files : {};

  for (const file of sources()) {
    const content = readFileSync(path.join(root, file));
    after.files[file] = hash(content);
    if (known[file] !== after.files[file] || !existsSync(outputOf(file))) compileOrCopy(file, content);
  }
  for (const file of Object.keys(before.files)) if (!(file in after.files)) removeOutputOf(file);

  const lockFile = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  const inputsAmong = (files) =>
    Object.entries(after.files)
      .filter(([file]) => files.test(file))
      .join() + lockFile;
  if (existsSync(WORKFLOWS)) {
    const inputs = inputsAmong(/^(workflows|presentation|domain|platforms|security)\//);
    after.workflows = hash(JSON.stringify(BUNDLE) + inputs);
    if (before.workflows !== after.workflows || !existsSync(WORKFLOW_BUNDLE)) await bundleWorkflows(log);
  }
  if (existsSync(COMMAND)) {
    after.command = hash(compiler + process.version + process.arch + inputsAmong(COMMAND_FILES));
    if (before.command !== after.command || !existsSync(COMMAND_BUNDLE)) await bundleCommand();
  }
  if (existsSync(PAGE)) {
    after.page = hash(pageSources() + inputsAmong(PAGE_IMPORTS));
    if (before.page !== after.page || !existsSync(PAGE_BUNDLE)) await bundlePage(root);
  }
  writeAtomically(RECORD, JSON.stringify(after));
}

/**
 * Lists the files in the folders that tsconfig.json includes, without the tests (jest compiles them), `bench/peers` (it
 * has its own packages) and the portal's page (it is bundled).
 */
function sources() {
  const { include } = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8'));
  return include
    .filter((folder) => folder !== 'test' && existsSync(path.join(root, folder)))
    .flatMap((folder) => filesIn(path.join(root, folder)))
    .filter((file) => !LEFT_OUT.some((folder) => file.startsWith(folder)))
    .sort();
}

/** Lists the files in a folder and its subfolders, as paths from the root of the repository. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)));
}

/** Returns the files of the portal's page with their content. */
function pageSources() {
  const files = filesIn(PAGE).sort();
  return files.map((file) => file + readFileSync(path.join(root, file), 'utf8')).join('');
}

function outputOf(file) {
  return path.join(dist, file.replace(/\.ts$/, '.js'));
}

function compileOrCopy(file, content) {
  const output = outputOf(file);
  mkdirSync(path.dirname(output), { recursive: true });
  if (!file.endsWith('.ts')) return writeAtomically(output, content);
  const sourceFileName = path.relative(path.dirname(output), path.join(root, file));
  const text = content.toString('utf8');
  const lazy = LAZY_FILES.test(file) ? [...text.matchAll(/ from '([^']+)';$/gm)].map(([, name]) => name) : true;
  const compiler = { ...COMPILER, module: { ...COMPILER.module, lazy } };
  const { code, map } = transformSync(text, { ...compiler, filename: file, sourceFileName });
  writeAtomically(`${output}.map`, map);
  writeAtomically(output, `${code}//# sourceMappingURL=${path.basename(output)}.map\n`);
}

function removeOutputOf(file) {
  rmSync(outputOf(file), { force: true });
  rmSync(`${outputOf(file)}.map`, { force: true });
}

async function bundleWorkflows(log) {
  log('Bundling the workflows (a few seconds).');
  const { bundleWorkflowCode, DefaultLogger } = createRequire(import.meta.url)('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    ...BUNDLE,
    logger: new DefaultLogger('WARN'),
  });
  writeAtomically(WORKFLOW_BUNDLE, code);
}

async function bundleCommand() {
  writeAtomically(COMMAND_BUNDLE, await bundle(dist));
  await createCache(COMMAND_BUNDLE);
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'));
  } catch {
    return { compiler: '', files: {}, workflows: '' }; // there is no record yet, or it cannot be read
  }
}

/** Replaces a file atomically, because another build or a running demo can be reading it at the same time. */
function writeAtomically(file, content) {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, file);
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
