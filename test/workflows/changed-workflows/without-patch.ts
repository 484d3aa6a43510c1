/**
 * `managedMigration` and `batchRun`, changed without a patch, so that they cannot replay histories of the originals.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../../activities';
import { managedMigration as original } from '../../../workflows';

const { beginRun } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Begins with an additional timer. */
export async function managedMigration(...args: Parameters<typeof original>): ReturnType<typeof original> {
  await sleep(1);
  return original(...args);
}

/** Runs only the first activity of a batch run. */
export async function batchRun({ migrationId }: { readonly migrationId: string }): Promise<void> {
  await beginRun({ migrationId, run: 'batch-1' });
}
