import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '../../config';
import {
  logEndText,
  startSupervised,
  type ProgramEnd,
  type SupervisedProcess,
} from '../../stack/process/supervised-process';
import { until } from '../support/async';

const SUPERVISOR = path.resolve(__dirname, '../../stack/process/supervisor.mjs');

let folder: string;
let pidFile: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-supervised-'));
  pidFile = path.join(folder, 'pid');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a program that writes its process id to `pidFile` and then runs a shell script. */
function shell(script: string, extra: { removeFolder?: string; graceMs?: number } = {}) {
  return {
    command: 'sh',
    args: ['-c', `echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; ${script}`],
    logFile: path.join(folder, 'log'),
    stopSignal: 'SIGINT' as const,
    graceMs: 10_000,
    ...extra,
  };
}

async function startedPid(): Promise<number> {
  await until(() => existsSync(pidFile));
  return Number(readFileSync(pidFile, 'utf8'));
}

function start(program: ReturnType<typeof shell>): SupervisedProcess {
  return startSupervised({ ...program, env: process.env });
}

test('a supervisor stops its program and removes the temporary folder if the parent is killed', async () => {
  const program = JSON.stringify(shell('exec sleep 600', { removeFolder: folder }));
  const parentScript = `require('node:child_process').spawn(process.execPath, process.argv.slice(1), {
    stdio: ['pipe', 'ignore', 'ignore'], detached: true }); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', parentScript, SUPERVISOR, program]);
  const pid = await startedPid();
  expect(isAlive(pid)).toBe(true);

  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await until(() => !isAlive(pid));
  await until(() => !existsSync(folder));
});

test('the program has its own process id, with which it can be killed', async () => {
  const program = start(shell('exec sleep 600'));
  const pid = await startedPid();
  expect(await program.pid).toBe(pid);
  process.kill(pid, 'SIGKILL');
  await program.exited;
  expect(isAlive(pid)).toBe(false);
});

test('a program that cannot be started has no process id', async () => {
  expect(await start({ ...shell(''), command: '/nowhere/program' }).pid).toBeNull();
});

test('a program that is kept running is restarted when it ends, but not too often', async () => {
  const program = start(shell('exit 3'));
  const ends: ProgramEnd[] = [];
  program.keepRunning((end) => ends.push(end));
  expect(await program.exited).toBe(3);
  const restarts = Array.from({ length: 5 }, () => ({ reason: 'exit code 3', isRestarted: true }));
  expect(ends).toEqual([...restarts, { reason: 'exit code 3', isRestarted: false }]);
});

test('a program that is kept running is not restarted once it is stopped', async () => {
  const program = start(shell('exec sleep 600'));
  const ends: ProgramEnd[] = [];
  program.keepRunning((end) => ends.push(end));
  process.kill(await startedPid(), 'SIGKILL');
  await until(() => ends.length === 1);
  expect(ends).toEqual([{ reason: 'signal SIGKILL', isRestarted: true }]);
  rmSync(pidFile);
  const restarted = await startedPid();
  await program.stop();
  expect([ends.length, program.hasExited(), isAlive(restarted)]).toEqual([1, true, false]);
});

test('if the supervisor of a program is killed, the reason for the end is the signal', async () => {
  const supervisorFile = path.join(folder, 'supervisor');
  const program = start(
    shell(`echo $PPID > '${supervisorFile}.new'; mv '${supervisorFile}.new' '${supervisorFile}'; exec sleep 600`),
  );
  await until(() => existsSync(supervisorFile));
  const pid = await startedPid();
  process.kill(Number(readFileSync(supervisorFile, 'utf8')), 'SIGKILL');
  await program.exited;
  const ends: ProgramEnd[] = [];
  program.keepRunning((end) => ends.push(end));
  process.kill(pid, 'SIGKILL');
  expect(ends).toEqual([{ reason: 'signal SIGKILL', isRestarted: false }]);
});

test('if a program has ended before keepRunning is called, its end is reported', async () => {
  const program = start(shell('exit 3'));
  await program.exited;
  const ends: ProgramEnd[] = [];
  program.keepRunning((end) => ends.push(end));
  expect(ends).toEqual([{ reason: 'exit code 3', isRestarted: false }]);
});

test('a Node program is ready when it sends a message, and never becomes ready if it ends before that', async () => {
  const node = (script: string) => ({
    ...shell(''),
    command: process.execPath,
    args: ['-e', script],
    sendsReady: true,
  });
  const program = start(node("process.send('ready'); setInterval(() => {}, 1000)"));
  expect(await program.ready).toBe(true);
  await program.stop();
  expect(await start(node('')).ready).toBe(false);
});

test('a process that runs with runProcess stops when its supervisor is killed', async () => {
  const script = `
    const { runProcess, untilAborted } = require(${JSON.stringify(path.resolve(__dirname, '../../dist/observability/process.js'))});
    runProcess('worker', async ({ stopped }) => {
      require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, process.pid + ' ' + process.ppid);
      process.send('ready');
      const running = setInterval(() => undefined, 1000);
      await untilAborted(stopped);
      clearInterval(running);
    });`;
  const program = { ...shell(''), command: process.execPath, args: ['-e', script], sendsReady: true };
  const supervised = startSupervised({ ...program, env: process.env });
  expect(await supervised.ready).toBe(true);
  const [pid = 0, supervisor = 0] = readFileSync(pidFile, 'utf8').split(' ').map(Number);
  process.kill(supervisor, 'SIGKILL');
  await supervised.exited;
  await until(() => !isAlive(pid));
  expect(readFileSync(program.logFile, 'utf8')).toContain('the supervisor of the worker has ended');
});

test('stop sends the program its own stop signal first', async () => {
  const goodbye = path.join(folder, 'goodbye');
  const program = start(shell(`trap "echo bye > '${goodbye}'; exit 0" INT; while :; do sleep 0.05; done`));
  await startedPid();
  await program.stop();
  expect(readFileSync(goodbye, 'utf8')).toBe('bye\n');
});

test('stop kills a program that ignores its stop signal, and its child processes', async () => {
  const childFile = path.join(folder, 'child');
  const program = start(
    shell(`trap '' INT; sleep 600 & echo $! > '${childFile}'; while :; do sleep 0.05; done`, { graceMs: 100 }),
  );
  const pid = await startedPid();
  await until(() => existsSync(childFile) && readFileSync(childFile, 'utf8') !== '');
  const child = Number(readFileSync(childFile, 'utf8'));

  await program.stop();
  await until(() => !isAlive(pid));
  await until(() => !isAlive(child));
});

test('the last program to stop removes the temporary folder', async () => {
  const first = start(shell('exec sleep 600', { removeFolder: folder }));
  await startedPid();
  rmSync(pidFile);
  const second = start(shell('exec sleep 600', { removeFolder: folder }));
  await startedPid();

  await first.stop();
  expect(existsSync(folder)).toBe(true);
  await second.stop();
  expect(existsSync(folder)).toBe(false);
});

test('a program that ends without being stopped keeps its folder and log', async () => {
  const program = start(shell('echo no licence; exit 3', { removeFolder: folder }));
  expect(await program.exited).toBe(3);
  expect(program.hasExited()).toBe(true);
  expect(readFileSync(path.join(folder, 'log'), 'utf8')).toBe('no licence\n');
});

test('a program that cannot be started has the reason in its log', async () => {
  writeFileSync(path.join(folder, 'log'), '');
  const program = start({ ...shell(''), command: 'no-such-program' });
  expect(await program.exited).toBe(127);
  expect(readFileSync(path.join(folder, 'log'), 'utf8')).toMatch(/spawn no-such-program (ENOENT|EACCES)/);
});

test('an error message says that a log is empty or missing', () => {
  const log = path.join(folder, 'a.log');
  expect(logEndText(log)).toBe(`Nothing could be read from its log, ${log}.`);
  writeFileSync(log, '');
  expect(logEndText(log)).toBe(`Nothing could be read from its log, ${log}.`);
  writeFileSync(log, 'starting\nfailed\n');
  expect(logEndText(log)).toBe(`Its log, ${log}, ends with:\nstarting\nfailed`);
});
