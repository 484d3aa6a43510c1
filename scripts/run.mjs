import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The programs that are running. Each of them receives forwarded signals. */
const running = new Set();
let received;

function forward(signal) {
  received = signal;
  for (const child of running) child.kill(signal);
}

/**
 * Runs a program in the checkout's folder and resolves with its exit code. Forwards signals and waits until the program
 * has ended, so that nothing keeps running after the shell prompt returns. After a signal, starts no more programs, and
 * ends this process with the same signal once the last program has ended.
 */
export async function run(command, args, env = process.env) {
  const { code } = await spawnAndWait(command, args, { stdio: 'inherit', env });
  return code;
}

/** Like {@link run}, but resolves with the exit code and the program's output, and does not print the output. */
export async function runCaptured(command, args, env = process.env) {
  return spawnAndWait(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
}

async function spawnAndWait(command, args, options) {
  if (received) return { code: 1, output: '' };
  const child = spawn(command, args, { ...options, cwd: root });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, forward);
  running.add(child);
  const code = await new Promise((resolve) => {
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
    child.once('error', (error) => {
      console.error(`${command} cannot be run: ${error.message}`);
      resolve(127);
    });
  });
  running.delete(child);
  if (running.size === 0) {
    for (const signal of SIGNALS) process.off(signal, forward);
    if (received) process.kill(process.pid, received);
  }
  return { code, output };
}
