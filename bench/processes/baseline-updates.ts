/** Measures how long an update of an empty workflow takes. No decision can be faster on this machine. */
import type { LedgerClient } from '../../client';
import { startProcessWith, type ChildProgram } from './child-process';

export const EMPTY_QUEUE = 'empty';

export type BaselineCalls = {
  readonly start: (variables: Readonly<Record<string, string>>) => Promise<void>;
};

export interface BaselineUpdates {
  /** Sends an update and returns the milliseconds until its result. */
  time(): Promise<number>;
  stop(): Promise<void>;
}

/** @param variables the environment variables of the worker that runs the empty workflow */
export async function startBaselineUpdates(
  { temporal }: LedgerClient,
  variables: Readonly<Record<string, string>>,
): Promise<BaselineUpdates> {
  return startProcessWith('empty-process', async (worker: ChildProgram<BaselineCalls>) => {
    await worker.call('start', variables);
    const handle = await temporal.workflow.start('emptyWorkflow', {
      taskQueue: EMPTY_QUEUE,
      workflowId: 'empty',
    });
    return {
      time: async () => {
        const sentAt = performance.now();
        await handle.executeUpdate('empty');
        return performance.now() - sentAt;
      },
      stop: () => worker.end(),
    };
  });
}
