const { availableParallelism } = require('node:os');

/** More files than cores run at the same time, because tests spend most of their time waiting. */
const FILES_PER_CORE = 1.5;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } }] },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // csv-parse looks up Math for every byte, which is slow through the global object of Jest's sandbox.
  sandboxInjectedGlobals: ['Math'],
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  maxWorkers: Number(process.env.JEST_WORKERS) || Math.ceil(availableParallelism() * FILES_PER_CORE),
  testSequencer: '<rootDir>/test/support/slowest-first.js',
  testTimeout: 120_000,
};
