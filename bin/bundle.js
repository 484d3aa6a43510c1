/**
 * Runs a bundle with V8's code cache. The build writes both. The bundle saves the time that Node takes to find and load
 * the modules one by one, and the cache saves the time that V8 takes to compile them. Together, that is more than a
 * third of the CPU time of `ferry list` and `ferry show` (docs/decisions/0028-one-file-for-the-command.md).
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { Script } = require('node:vm');

/** The number of hexadecimal digits of the SHA-256 hash at the end of a bundle and at the start of its cache. */
const HASH_LENGTH = 64;

/**
 * Runs a bundle, which is a function like the one in which Node wraps a module. V8 compiles the bundle if there is no
 * cache, or if the cache belongs to another bundle or another version of V8.
 *
 * @returns a function that returns the cache of everything that V8 has compiled so far
 */
function runBundle(file) {
  const source = readFileSync(file, 'latin1'); // the bundle is ASCII
  const hash = source.slice(-HASH_LENGTH);
  const script = new Script(source, { filename: file, cachedData: readCache(file, hash) });
  const bundled = { exports: {} };
  script.runInThisContext()(bundled.exports, createRequire(file), bundled, file, path.dirname(file));
  return () => Buffer.concat([Buffer.from(hash), script.createCachedData()]);
}

/** Returns the path of the cache for this version of Node on this kind of machine. */
function cacheOf(file) {
  return `${file}.${process.version}-${process.platform}-${process.arch}.cache`;
}

/** Returns the cache if it has the bundle's hash, because V8 accepts the cache of any bundle of the same length. */
function readCache(file, hash) {
  try {
    const cache = readFileSync(cacheOf(file));
    return cache.latin1Slice(0, HASH_LENGTH) === hash ? cache.subarray(HASH_LENGTH) : undefined;
  } catch {
    return undefined; // there is no cache, or it cannot be read
  }
}

module.exports = { cacheOf, runBundle };
