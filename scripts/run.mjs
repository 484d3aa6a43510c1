import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Programs that run now: a signal goes to each of them. */
const running = new Set();
let received;

function forward(signal) {
  received = signal;
  for (const child of running) child.kill(signal);
}

/**
 * Runs a program in the checkout's folder and resolves with its exit code. Forwards signals and waits for the program's
 * end, so that nothing keeps running after the prompt is back. After a signal no further program starts, and this
 * process ends by the same signal as soon as the last program has ended.
 */
export async function run(command, args, env = process.env) {
  const { code } = await spawnAndWait(command, args, { stdio: 'inherit', env });
  return code;
}

/** Does the same, and returns what the program printed instead of printing it. */
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
