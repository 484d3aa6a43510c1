import { connect } from 'node:net';
import { readRunningStack, stackFile } from '../config';

/** A stack runs in this folder already; two would write to the same data. */
class StackRunsAlready extends Error {
  override readonly name = 'StackRunsAlready';
}

/**
 * Asks Temporal's port too, not only for the process: after a crash its number may belong to another one.
 *
 * @throws {@link StackRunsAlready}
 */
export async function assertNotRunning(home: string): Promise<void> {
  const stack = readRunningStack(home);
  if (stack === undefined || !(await answers(stack.temporal.address))) return;
  throw new StackRunsAlready(
    `A stack runs already: process ${stack.pid}, as ${stackFile(home)} says. Use that one, or stop it first (Ctrl-C where it runs).`,
  );
}

function answers(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 2_000 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
