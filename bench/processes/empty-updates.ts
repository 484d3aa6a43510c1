/** The least that a decision can cost on this machine: an update of a workflow that does nothing. */
import type { LedgerClient } from '../../client';
import type { OwnProcess } from './child-process';
import { startProcessWith } from './child-process';

export const EMPTY_QUEUE = 'empty';

export type EmptyCalls = {
  readonly start: (variables: Readonly<Record<string, string>>) => Promise<void>;
};

export interface EmptyUpdates {
  /** Sends one, and waits for its answer. Milliseconds. */
  time(): Promise<number>;
  stop(): Promise<void>;
}

/** @param variables that its worker would find in its environment */
export async function startEmptyUpdates(
  { temporal }: LedgerClient,
  variables: Readonly<Record<string, string>>,
): Promise<EmptyUpdates> {
  return startProcessWith('empty-process', async (worker: OwnProcess<EmptyCalls>) => {
    await worker.ask('start', variables);
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
