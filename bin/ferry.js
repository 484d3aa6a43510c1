#!/usr/bin/env node
const { existsSync } = require('node:fs');
const path = require('node:path');
const { runBundle } = require('./bundle');

const root = path.join(__dirname, '..');
const dist = path.join(root, 'dist');
const bundle = path.join(dist, 'ferry.js');
const main = path.join(dist, 'cli', 'main.js');

/**
 * The commands that run servers. They run from their modules instead of the bundle, because their packages use native
 * code, worker threads and files of their own.
 */
const SERVERS = ['up', 'service', 'codec-server', 'portal'];

const args = process.argv.slice(2);
// Takes the first word that is not an option as the command. The word can also be the value of `--portal`, the only
// option with a value before a command. That does no harm, because the commands of `--portal` run no servers.
const command = args.find((arg) => !arg.startsWith('-'));
// With `--debug`, ferry also runs from its modules, so that stack traces name the modules.
const isUnbundled = SERVERS.includes(command) || args.includes('--debug');

if (existsSync(bundle) && !isUnbundled) {
  runBundle(bundle);
} else if (existsSync(main)) {
  require(main);
} else {
  console.error(`ferry is not built yet. In ${root}, run: npm ci`);
  process.exitCode = 1;
}
