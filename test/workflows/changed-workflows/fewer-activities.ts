import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../../activities';

export { managedMigration } from '../../../workflows';

const { beginRun } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** A batch run that was changed without a patch: it has only its first activity. */
export async function batchRun({ migrationId }: { readonly migrationId: string }): Promise<void> {
  await beginRun({ migrationId, run: 'batch-1' });
}
