import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** Answers the update `empty` without doing anything. */
export async function emptyWorkflow(): Promise<void> {
  setHandler(defineUpdate('empty'), () => undefined);
  await condition(() => false);
}
