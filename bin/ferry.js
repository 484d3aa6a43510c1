#!/usr/bin/env node
const { existsSync } = require('node:fs');
const path = require('node:path');
const { runBundle } = require('./bundle');

const root = path.join(__dirname, '..');
const dist = path.join(root, 'dist');
const bundle = path.join(dist, 'ferry.js');
const main = path.join(dist, 'cli', 'main.js');

/**
 * The arguments with which the command runs from its modules instead of the bundle: commands that run servers, because
 * their packages use native code, worker threads and files of their own, and `--debug`, because its stack traces must
 * name the modules.
 */
const UNBUNDLED = ['up', 'service', 'codec-server', 'portal', '--debug'];

if (existsSync(bundle) && !process.argv.some((arg) => UNBUNDLED.includes(arg))) {
  runBundle(bundle);
} else if (existsSync(main)) {
  require(main);
} else {
  console.error(`ferry is not built yet. In ${root}, run: npm ci`);
  process.exitCode = 1;
}
