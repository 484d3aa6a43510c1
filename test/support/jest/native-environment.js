/** The environment of test files: Node's own context instead of a sandbox of jest. See native-runtime.js. */
const asyncHooks = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** The symbols under which jest stores the state of one test file in the global object. */
const STATE_OF_A_FILE = new Set(['EVENT_HANDLERS', 'JEST_STATE_SYMBOL', 'TEST_TIMEOUT_SYMBOL']);

const { AsyncLocalStorage } = asyncHooks;
/** The storages that the current test file has created. */
const storages = new Set();

class ListedStorage extends AsyncLocalStorage {
  constructor(...args) {
    super(...args);
    storages.add(this);
  }
}

module.exports = class NativeEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { env: { ...process.env }, exit: process.exit, console };
  }

  async setup() {
    asyncHooks.AsyncLocalStorage = ListedStorage;
  }

  /**
   * Undoes the changes that the test file and jest have made to this context, because the next file runs in it, too.
   */
  async teardown() {
    this.disableStorages();
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { env, exit, console } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    process.exitCode = undefined;
    globalThis.console = console;
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (STATE_OF_A_FILE.has(symbol.description)) delete globalThis[symbol];
    }
  }

  /**
   * Disables the storages of the test file. jest and this project create new ones for each test file, and until a
   * storage is disabled, Node copies its value to every promise. A storage that is used again enables itself.
   */
  disableStorages() {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    for (const storage of storages) storage.disable();
    storages.clear();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
