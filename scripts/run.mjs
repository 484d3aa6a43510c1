import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in the foreground of the checkout and resolves with its exit code. Signals are handed on, and its end
 * is waited for: nothing is left running behind a prompt that is back already. After a signal nothing else is begun.
 */
export async function run(command, args, env = process.env) {
  const child = spawn(command, args, { stdio: 'inherit', cwd: fileURLToPath(new URL('..', import.meta.url)), env });
  let signalled;
  const handOn = (signal) => {
    signalled = signal;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, handOn);
  const code = await new Promise((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
    child.once('error', (error) => {
      console.error(`${command} cannot be run: ${error.message}`);
      resolve(127);
    });
  });
  for (const signal of SIGNALS) process.off(signal, handOn);
  if (signalled) process.kill(process.pid, signalled);
  return code;
}
