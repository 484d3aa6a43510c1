import { setTimeout as delay } from 'node:timers/promises';

/** Waits until something has come true, and fails when it has not in time. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 15_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not true after ${withinMs} ms: ${condition.toString()}`);
    await delay(20);
  }
}

/** Whether a process runs; one that has ended and was not yet collected does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
