/**
 * Runs one program so that it never outlives the process that asked for it, not even when that process is killed
 * with `kill -9`. Started by leashed-process.ts; not meant to be run by hand.
 *
 * The asking process holds the other end of this one's standard input. Whatever ends it, the operating system closes
 * that pipe: then the program is stopped, gently first, and its folder is removed if it was a temporary one. Both this
 * process and the program are in groups of their own, so a terminal's Ctrl-C does not reach them: whoever uses the
 * program can finish with it first.
 */
import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

const { command, args, logFile, stopSignal, graceMs, user, removeFolder } = JSON.parse(process.argv[2]);

process.umask(0o077); // a server's files are its owner's alone

const MARKER = '.leash-';
if (removeFolder) writeFileSync(path.join(removeFolder, MARKER + process.pid), '');

const log = openSync(logFile, 'a', 0o600);
const child = spawn(command, args, { stdio: ['ignore', log, log], cwd: '/', detached: true, ...user });
child.on('error', (error) => {
  writeSync(log, `${error.message}\n`);
  finish(127);
});
child.on('exit', (code) => finish(code ?? 1));

process.stdin.resume();
for (const ending of ['end', 'close', 'error']) process.stdin.on(ending, stop);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

let stopping = false;
function stop() {
  if (stopping) return;
  stopping = true;
  child.kill(stopSignal);
  setTimeout(killGroup, graceMs);
}

function finish(code) {
  killGroup(); // what the program started and left behind
  if (removeFolder) leaveFolder(removeFolder);
  process.exit(code);
}

function killGroup() {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left in the group: what was wanted.
  }
}

/**
 * Several programs may share one temporary folder: the last one to be stopped removes it. A program that ended by
 * itself leaves it, with the log that says why: the process that asked for it is still there to read it.
 */
function leaveFolder(folder) {
  rmSync(path.join(folder, MARKER + process.pid), { force: true });
  if (!stopping || !existsSync(folder)) return;
  const markers = readdirSync(folder).filter((name) => name.startsWith(MARKER));
  if (markers.some((name) => isAlive(Number(name.slice(MARKER.length))))) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
