import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../../activities';

export { managedMigration } from '../../../workflows';

const { beginRun } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Changed without a patch: only the first activity is left. */
export async function batchRun({ migrationId }: { readonly migrationId: string }): Promise<void> {
  await beginRun({ migrationId, run: 'batch-1', ramp: false });
}
