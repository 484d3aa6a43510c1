const { availableParallelism } = require('node:os');

/** Tests mostly wait, for servers, timers and processes: more files than cores run at the same time. */
const FILES_PER_CORE = 1.5;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } }] },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // csv-parse looks Math up for every byte, which is slow through a sandbox's global object.
  sandboxInjectedGlobals: ['Math'],
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  maxWorkers: Number(process.env.JEST_WORKERS) || Math.ceil(availableParallelism() * FILES_PER_CORE),
  testSequencer: '<rootDir>/test/support/slowest-first.js',
  testTimeout: 120_000,
};
