/**
 * Runs test files in Node's own context and with Node's own `require`, instead of in a sandbox of jest. The files of
 * this project are loaded again for each test file, but compiled only once per jest worker, and packages are loaded
 * only once per jest worker. This saves more than a quarter of jest's CPU time, because a sandbox loads and compiles
 * everything for each test file.
 */
const Module = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const ROOT = path.join(__dirname, '../../..') + path.sep;
const PACKAGES = path.join(ROOT, 'node_modules') + path.sep;
/** This module stays loaded, because Temporal's runtime can be installed only once per process. */
const LOADED_ONCE = path.join(ROOT, 'worker/runtime.ts');

/** The compiled files of this project. A script that runs again reuses the bytecode of its functions. */
const scripts = new Map();

module.exports = class NativeRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    this.testFile = args[6];
    /** The modules of this project that were loaded before the test file, for example by global-setup.ts. */
    this.before = new Map();
    this.loaderBefore = Module._extensions['.ts'];
  }

  requireModule(from, name, ...rest) {
    if (name !== undefined || from !== this.testFile) return super.requireModule(from, name, ...rest);
    this.before = unloadModules();
    Module._extensions['.ts'] = (module, filename) => this.load(module, filename);
    const { jest } = this.requireModuleOrMock(from, '@jest/globals');
    globalThis.jest = { ...jest, mock: refuseMock };
    return Module.createRequire(from)(from);
  }

  load(module, filename) {
    const code = this.transformCache.transform(filename);
    let script = scripts.get(filename);
    if (script?.code !== code) {
      script = { code, compiled: new vm.Script(Module.wrap(code), { filename }) };
      scripts.set(filename, script);
    }
    const run = script.compiled.runInThisContext();
    const require = Module.createRequire(filename);
    run.call(module.exports, module.exports, require, module, filename, path.dirname(filename));
  }

  /** Loads the test framework again, because it stores the state of one test file. */
  requireInternalModule(file) {
    delete require.cache[file];
    return require(file);
  }

  /** Does nothing, so that `process.getBuiltinModule` stays Node's own. */
  installGetBuiltinModule() {}

  teardown() {
    super.teardown();
    unloadModules();
    for (const [file, module] of this.before) require.cache[file] = module;
    if (this.loaderBefore) Module._extensions['.ts'] = this.loaderBefore;
    else delete Module._extensions['.ts'];
  }
};

/** Unloads the modules of this project, and returns them by file. */
function unloadModules() {
  const unloaded = new Map();
  // zod keeps every schema that has an id in a registry of the process.
  globalThis.__zod_globalRegistry?.clear();
  for (const [file, module] of Object.entries(require.cache)) {
    const isOwn = file.startsWith(ROOT) && !file.startsWith(PACKAGES) && file.endsWith('.ts');
    if (!isOwn || file === LOADED_ONCE) continue;
    unloaded.set(file, module);
    delete require.cache[file];
  }
  return unloaded;
}

function refuseMock() {
  throw new Error('jest.mock has no effect without a sandbox. Use jest.spyOn on the exports of the module.');
}
