import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Does something while no other process does it in this checkout: two demos that are started at once must not both
 * install packages. A lock whose owner has died is taken over.
 */
export async function oneAtATime(lockFile, log, work) {
  let said = false;
  while (!take(lockFile)) {
    if (!said) log(`Waiting for another process that prepares this checkout (${lockFile}).`);
    said = true;
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
    if (pid > 0) process.kill(pid, 0); // nothing written yet: it was taken this instant
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
