import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `work` while holding a lock file, so that two demos started at the same time do not both install packages.
 * Reclaims the lock of a process that has died.
 */
export async function oneAtATime(lockFile, log, work) {
  let logged = false;
  while (!take(lockFile)) {
    if (!logged) log(`Waiting for another process that is setting up this checkout (${lockFile}).`);
    logged = true;
    await delay(300);
  }
  const release = () => rmSync(lockFile, { force: true });
  process.on('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function take(lockFile) {
  try {
    const file = openSync(lockFile, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!ownerIsAlive(lockFile)) rmSync(lockFile, { force: true });
  return false;
}

function ownerIsAlive(lockFile) {
  try {
    const pid = Number(readFileSync(lockFile, 'utf8'));
    if (pid > 0) process.kill(pid, 0); // an empty file was created just now, and its owner is about to write its id
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
