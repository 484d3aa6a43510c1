import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** Answers updates with nothing, having done nothing. */
export async function emptyWorkflow(): Promise<void> {
  setHandler(defineUpdate('empty'), () => undefined);
  await condition(() => false);
}
