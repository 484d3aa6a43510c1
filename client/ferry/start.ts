import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { ManifestRow } from '../../domain/manifest';
import type { MigrationLimits, MigrationPlan } from '../../domain/plan';
import { DEFAULT_LIMITS, migrationIdOf } from '../../domain/plan';
import type { Platform } from '../../domain/platforms';
import { isRotating } from '../../domain/platforms';
import { isVaultOpen, MigrationExists, supplyMigration } from '../../store';
import { MANAGED_MIGRATION, TASK_QUEUE } from '../../workflows/messages';
import type { Ferry } from './open-ferry';

export interface StartRequest {
  readonly client: string;
  readonly platform: Platform;
  readonly label?: string;
  readonly rows: readonly ManifestRow[];
  readonly manifestDigest: string;
  /** Whom the client calls. */
  readonly contact: string;
  /** Who supplies the manifest. */
  readonly by: string;
  readonly firstCompanyRow: number | null;
  readonly limits?: Partial<MigrationLimits>;
}

/**
 * Stores the manifest and starts the migration. Nothing is half stored: a manifest whose migration did not start is
 * replaced by the next attempt.
 *
 * @returns the migration's id
 * @throws MigrationExists
 * @throws OrganizationTaken
 */
export async function startMigration({ temporal, db }: Ferry, request: StartRequest): Promise<string> {
  const { client, platform, contact } = request;
  const migrationId = migrationIdOf(client, platform.slug, request.label);
  const limits = { ...DEFAULT_LIMITS, ...request.limits };
  const plan: MigrationPlan = {
    migrationId,
    client,
    platformKey: platform.key,
    contact,
    firstCompanyRow: request.firstCompanyRow,
    limits,
  };
  await supplyMigration(
    db,
    {
      id: migrationId,
      client,
      platformKey: platform.key,
      contact,
      rotating: isRotating(platform),
      limits,
      manifestDigest: request.manifestDigest,
      suppliedBy: request.by,
    },
    request.rows,
  );
  try {
    await temporal.workflow.start(MANAGED_MIGRATION, {
      workflowId: migrationId,
      taskQueue: TASK_QUEUE,
      args: [plan],
      // An id names one migration for ever: its ledger and its audit trail are kept.
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `${platform.name}: ${request.rows.length} companies of ${client}`,
      memo: { contact },
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new MigrationExists(`there is a migration ${migrationId} already`);
  }
  return migrationId;
}

/** Waits until a worker has opened the migration's vault, so that credentials can be sealed; false: not in this time. */
export async function vaultOpened({ db }: Ferry, migrationId: string, waitMs: number): Promise<boolean> {
  const until = Date.now() + waitMs;
  for (;;) {
    if (await isVaultOpen(db, migrationId)) return true;
    if (Date.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const LOOK_EVERY_MS = 100;
