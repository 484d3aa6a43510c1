/** Finds a stack that is already running in a folder. */
import { connect } from 'node:net';
import { readRunningStack, stackFile } from '../config';

/** Thrown when a stack is already running in the folder, because two stacks would write to the same data. */
export class StackAlreadyRunning extends Error {
  override readonly name = 'StackAlreadyRunning';
}

/**
 * Throws if a stack is running in the folder: its process exists, and Temporal's port accepts connections. The process
 * id alone is no proof, because after a crash another process can have been given this id.
 *
 * @throws {@link StackAlreadyRunning}
 */
export async function assertNotRunning(home: string): Promise<void> {
  const stack = readRunningStack(home);
  if (stack === undefined || !(await acceptsConnections(stack.temporal.address))) return;
  throw new StackAlreadyRunning(`a stack is already running: process ${stack.pid} (see ${stackFile(home)})`);
}

function acceptsConnections(address: string): Promise<boolean> {
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
