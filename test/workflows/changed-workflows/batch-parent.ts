/** A workflow that starts a batch run as a migration does, for tests with their own activities. */
import { executeChild } from '@temporalio/workflow';
import { batchRun, type Batch } from '../../../workflows/batch-run';

export { batchRun };

export async function batchParent(batch: Batch): Promise<void> {
  await executeChild(batchRun, { workflowId: `${batch.migrationId}.batch`, args: [batch] });
}
