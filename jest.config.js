const { availableParallelism } = require('node:os');

/** More files than cores run at the same time, because tests spend most of their time waiting. */
const FILES_PER_CORE = 2;

/** @type {import('jest').Config} */
module.exports = {
  // Runs test files in Node's own context, without jest's sandbox: see native-runtime.js.
  runtime: '<rootDir>/test/support/jest/native-runtime.js',
  testEnvironment: '<rootDir>/test/support/jest/native-environment.js',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } }] },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  maxWorkers: Number(process.env.JEST_WORKERS) || Math.ceil(availableParallelism() * FILES_PER_CORE),
  testSequencer: '<rootDir>/test/support/jest/slowest-first.js',
  testTimeout: 240_000,
};
