/**
 * Detects migrations whose payload key is not configured here. This process can neither read such a migration nor send
 * it decisions.
 */
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { temporal } from '@temporalio/proto';
import { UnknownPayloadKey } from '../security';
import type { MigrationClient } from './connect';
import { PayloadKeyMissing } from './errors';

/** Returns the id of the payload key that encrypted a memo if that key is not configured here; otherwise null. */
export async function missingPayloadKey(
  { temporal }: MigrationClient,
  memo: temporal.api.common.v1.IMemo | null | undefined,
): Promise<string | null> {
  try {
    await decodeMapFromPayloads(temporal.options.loadedDataConverter, memo?.fields);
    return null;
  } catch (error) {
    if (error instanceof UnknownPayloadKey) return error.keyId;
    throw error;
  }
}

/** Migrations that each {@link MigrationClient} can read. A migration's key never changes, so one check is enough. */
const readableMigrations = new WeakMap<MigrationClient, Set<string>>();

/**
 * Checks that the migration's payload key is configured here. Call this before sending anything to the migration:
 * without this key, the message would be encrypted with another key, and a worker that lacks the other key would refuse
 * it.
 *
 * @throws PayloadKeyMissing
 * @throws WorkflowNotFoundError
 */
export async function assertPayloadKeyConfigured(ferry: MigrationClient, migrationId: string): Promise<void> {
  const readable = readableMigrations.get(ferry) ?? new Set();
  readableMigrations.set(ferry, readable);
  if (readable.has(migrationId)) return;
  const { raw } = await ferry.temporalWithoutCodec.workflow.getHandle(migrationId).describe();
  const missing = await missingPayloadKey(ferry, raw.workflowExecutionInfo?.memo);
  if (missing !== null) throw new PayloadKeyMissing(migrationId, missing);
  readable.add(migrationId);
}
