import { sleep } from '@temporalio/workflow';
import { managedMigration as original } from '../../../workflows';

export { batchRun } from '../../../workflows';

/** A migration that was changed without a patch: it begins with a timer. */
export async function managedMigration(...args: Parameters<typeof original>): ReturnType<typeof original> {
  await sleep(1);
  return original(...args);
}
