/** Finds a stack that is already running in a folder. */
import { readRunningStack, stackFile } from '../config';
import { acceptsConnections } from './ports';

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
  if (stack === undefined) return;
  const { hostname, port } = new URL(`tcp://${stack.temporal.address}`);
  if (!(await acceptsConnections(Number(port), hostname))) return;
  throw new StackAlreadyRunning(`a stack is already running: process ${stack.pid} (see ${stackFile(home)})`);
}
