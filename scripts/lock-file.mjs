import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `work` while holding a lock, so that two demos started at the same time do not both install packages. Takes over
 * the lock of a process that has died.
 *
 * The lock is a folder with one empty file, whose name is the owner's process id. `stack/ports.ts` explains how such
 * locks work. This file cannot import that code, because this file runs before the build. Unlike there, a process takes
 * over a lock with its own id, because it holds only one lock.
 */
export async function oneAtATime(lock, log, work) {
  let logged = false;
  while (!take(lock)) {
    if (!logged) log(`Waiting for another process that is setting up this checkout (${lock}).`);
    logged = true;
    await delay(300);
  }
  const release = () => removeOwners(lock, [String(process.pid)]);
  process.on('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function take(lock) {
  const owners = ownersOf(lock);
  // A restarted container uses process ids again, so a lock with this process's id was left by an earlier process.
  if (owners.some((owner) => Number(owner) !== process.pid && isAlive(Number(owner)))) return false;
  removeOwners(lock, owners);
  const prepared = mkdtempSync(`${lock}-`);
  writeFileSync(path.join(prepared, String(process.pid)), '');
  try {
    renameSync(prepared, lock);
    return true;
  } catch (error) {
    rmSync(prepared, { recursive: true });
    if (['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) return false; // another process was faster
    throw error;
  }
}

function ownersOf(lock) {
  try {
    return readdirSync(lock);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function removeOwners(lock, owners) {
  for (const owner of owners) rmSync(path.join(lock, owner), { force: true });
  try {
    rmdirSync(lock);
  } catch {
    // The folder does not exist, or another process has taken the lock.
  }
}
