/** Supervises one program. supervised-process.ts starts this script and explains it. */
import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const { command, args, logFile, stopSignal, graceMs, user, sendsReady, removeFolder } = JSON.parse(process.argv[2]);

process.umask(0o077); // only the owner can read a server's files

const MARKER = '.supervisor-';
if (removeFolder) writeFileSync(path.join(removeFolder, MARKER + process.pid), '');

const log = openSync(logFile, 'a', 0o600);
const stdio = ['ignore', log, log, ...(sendsReady ? ['ipc'] : [])];
const child = spawn(command, args, { stdio, cwd: '/', detached: true, ...user });
// Ignores a broken pipe, which means that the parent has ended. The handlers of standard input notice that as well.
process.stdout.on('error', () => undefined);
if (child.pid !== undefined) process.stdout.write(`${child.pid}\n`);
child.once('message', () => process.stdout.write('ready\n'));
child.on('error', (error) => {
  writeSync(log, `${error.message}\n`);
  finish(127);
});
child.on('exit', (code, signal) => finish(code ?? 128 + constants.signals[signal]));

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
  killGroup(); // stops processes that the program started and left running
  if (removeFolder) releaseFolder(removeFolder);
  process.exit(code);
}

function killGroup() {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}

/**
 * Removes the temporary folder if no other supervised program uses it. If the program ended without being stopped,
 * keeps the folder, because the parent still has to read the log in it.
 */
function releaseFolder(folder) {
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
