import { randomUUID } from 'node:crypto';
import type { ManifestRow } from '../domain/companies/manifest';
import type { Role } from '../domain/migration/steps';
import { inChunks, type Stream } from '../domain/text/streams';
import { stageManifest } from '../store';
import type { LedgerClient } from './connect';
import { decide, type DecisionResult } from './decide';

export interface ManifestSupply {
  readonly rows: Stream<ManifestRow>;
  /** SHA-256 of the rows, in hexadecimal. */
  readonly manifestDigest: string;
  /** The number of rows, at least 1. */
  readonly companies: number;
  readonly role: Role;
  /** The person who supplies the manifest. */
  readonly by: string;
}

const ROWS_PER_PART = 1_000;

/**
 * Supplies the manifest of a migration that was started without one, or replaces it. Possible in step 1, until support
 * has accepted the details. Replacing the manifest deletes the stored credentials.
 *
 * @throws NoSuchMigration
 * @throws MigrationClosed
 * @throws PayloadKeyMissing if the payload key is not configured on this machine
 * @throws LedgerBehind
 */
export async function supplyManifest(
  ferry: LedgerClient,
  migrationId: string,
  { rows, ...content }: ManifestSupply,
): Promise<DecisionResult> {
  const decisionId = randomUUID();
  let part = 0;
  for await (const chunk of inChunks(rows, ROWS_PER_PART)) {
    await stageManifest(ferry.db, migrationId, { decisionId, part, rows: chunk }, content.by);
    part += 1;
  }
  return decide(ferry, migrationId, 'manifestSupplied', { decisionId, ...content });
}
