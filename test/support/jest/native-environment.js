/** The environment of test files: Node's own context instead of a sandbox of jest. See native-runtime.js. */
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** The symbols under which jest stores the state of one test file in the global object. */
const STATE_OF_A_FILE = new Set(['EVENT_HANDLERS', 'JEST_STATE_SYMBOL', 'TEST_TIMEOUT_SYMBOL']);

module.exports = class NativeEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { env: { ...process.env }, exit: process.exit, console };
  }

  async setup() {}

  /**
   * Undoes the changes that the test file and jest have made to this context, because the next file runs in it, too.
   */
  async teardown() {
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

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
