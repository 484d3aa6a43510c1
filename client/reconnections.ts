import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../domain/progress/progress';
import { checkReconnectedSignal } from '../workflows/messages';
import type { MigrationClient } from './connect';
import { readProgressIfAnswered } from './progress';

const CHECKED_WITHIN_MS = 8_000;
const POLL_EVERY_MS = 200;

/**
 * Asks a migration in step 6 to check now whether end customers have reconnected their companies, because a person is
 * about to sign off. Waits for the result for at most 8 s. Does nothing if no company must reconnect.
 *
 * @returns the progress after the check; its `reconnections` say when the last check took place
 */
export async function checkReconnected(ferry: MigrationClient, progress: Progress): Promise<Progress> {
  const { migrationId } = progress;
  if (!(await askForReconnectionCheck(ferry, progress))) return progress;
  const deadline = Date.now() + CHECKED_WITHIN_MS;
  let latest = progress;
  while (Date.now() < deadline) {
    latest = (await readProgressIfAnswered(ferry, migrationId)) ?? latest;
    if (latest.reconnections?.checkedAt !== progress.reconnections?.checkedAt) break;
    await delay(POLL_EVERY_MS);
  }
  return latest;
}

/**
 * Asks for the check, and does not wait for its result.
 *
 * @returns false if no company must reconnect, the migration is not in step 6, or it cannot be asked
 */
export async function askForReconnectionCheck(
  { temporal }: MigrationClient,
  { migrationId, step, counts, reconnections }: Progress,
): Promise<boolean> {
  if (step !== 'complete-migration' || !(reconnections?.waiting || counts.mustReconnect)) return false;
  const asked = temporal.workflow.getHandle(migrationId).signal(checkReconnectedSignal);
  return asked.then(
    () => true,
    // The migration has ended, or Temporal does not answer: the last known result is shown, with its time.
    () => false,
  );
}
