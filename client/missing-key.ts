/** Migrations whose payload key is not here: nothing of them can be read, and nothing that is sent to them either. */
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { temporal } from '@temporalio/proto';
import { UnknownPayloadKey } from '../security';
import type { MigrationClient } from './open';

/** Thrown when a migration's payloads need a key that is not here. */
export class NotReadable extends Error {
  override readonly name = 'NotReadable';
  constructor(migrationId: string, keyId: string, options?: ErrorOptions) {
    super(`${migrationId} cannot be read here: payload key ${keyId} is missing`, options);
  }
}

/** The id of the payload key that a migration was started with, where that key is not here; null: it is. */
export async function missingKeyOf(
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

/** A migration's key does not change; long-lived clients ask once. */
const known = new WeakMap<MigrationClient, Set<string>>();

/**
 * Before something is sent to a migration: a worker without this process's key would stand still at it until it has it,
 * and who lacks the migration's key most likely has another one.
 *
 * @throws NotReadable
 * @throws WorkflowNotFoundError
 */
export async function assertReadable(ferry: MigrationClient, migrationId: string): Promise<void> {
  const readable = known.get(ferry) ?? new Set();
  known.set(ferry, readable);
  if (readable.has(migrationId)) return;
  const { raw } = await ferry.closed.workflow.getHandle(migrationId).describe();
  const missing = await missingKeyOf(ferry, raw.workflowExecutionInfo?.memo);
  if (missing !== null) throw new NotReadable(migrationId, missing);
  readable.add(migrationId);
}
