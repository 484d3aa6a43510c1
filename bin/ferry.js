#!/usr/bin/env node
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const main = path.join(root, 'dist', 'cli', 'main.js');

if (existsSync(main)) {
  require(main);
} else {
  console.error(`ferry is not built yet. In ${root}, run: npm ci`);
  process.exitCode = 1;
}
