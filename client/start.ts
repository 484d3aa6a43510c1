import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Stream } from '../domain/text/streams';
import type { ManifestRow } from '../domain/companies/manifest';
import type { Preflight } from '../domain/migration/migration-state';
import type { MigrationLimits } from '../domain/planning/limits';
import type { DecisionRules, MigrationPlan } from '../domain/migration/plan';
import { DEFAULT_LIMITS } from '../domain/planning/limits';
import { DEFAULT_DECISION_RULES } from '../domain/migration/plan';
import { migrationIdOf } from '../domain/migration/temporal-names';
import type { Platform, Route } from '../platforms/platforms';
import { isRotating } from '../platforms/platforms';
import { BOTTOM_PADDING } from '../presentation/temporal-ui/page-parts';
import { MigrationExists, supplyMigration } from '../store';
import { MIGRATIONS, progressQuery, TASK_QUEUE } from '../workflows/messages';
import { ask } from './ask';
import type { LedgerClient } from './open';
import { counted, oneLine } from '../domain/text/sentences';

export interface StartRequest {
  /** Absent: managed. */
  readonly route?: Route;
  readonly client: string;
  readonly platform: Platform;
  readonly label?: string;
  /** Gone through once, and once more when one of them cannot be stored. */
  readonly rows: Stream<ManifestRow>;
  readonly manifestDigest: string;
  /** Whom the client calls. */
  readonly contact: string;
  /** Who supplies the manifest. */
  readonly by: string;
  /** By its reference; null: the first that can be moved. */
  readonly firstCompany: string | null;
  readonly limits?: Partial<MigrationLimits>;
  /** Records of all companies together, where their rows do not say. */
  readonly recordsInTotal?: number;
  readonly decisions?: Partial<DecisionRules>;
}

/**
 * Stores the manifest and starts the migration. Nothing is half stored: a manifest whose migration did not start is
 * replaced by the next attempt.
 *
 * @returns the migration's id
 * @throws MigrationExists
 * @throws OrganizationTaken
 */
export async function startMigration({ temporal, db }: LedgerClient, request: StartRequest): Promise<string> {
  const { client, platform, contact, route = 'managed' } = request;
  const migrationId = migrationIdOf(client, platform.slug, request.label);
  const limits = { ...DEFAULT_LIMITS, ...request.limits };
  const plan: MigrationPlan = {
    migrationId,
    client,
    route,
    platformKey: platform.key,
    contact,
    firstCompany: request.firstCompany,
    limits,
    decisions: { ...DEFAULT_DECISION_RULES, ...request.decisions },
  };
  const companies = await supplyMigration(
    db,
    {
      id: migrationId,
      client,
      platformKey: platform.key,
      contact,
      route,
      // Without a freeze of its own there is no moment from which on alone a credential counts.
      rotating: route === 'managed' && isRotating(platform),
      limits,
      manifestDigest: request.manifestDigest,
      suppliedBy: request.by,
      recordsInTotal: request.recordsInTotal ?? null,
      namespace: temporal.options.namespace,
    },
    request.rows,
  );
  try {
    await temporal.workflow.start(MIGRATIONS[route], {
      workflowId: migrationId,
      taskQueue: TASK_QUEUE,
      args: [plan],
      // An id names one migration for ever: its ledger and its audit trail are kept.
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `${platform.name}: ${counted(companies, 'company')} of ${client}`,
      staticDetails: aboutIt(client, platform.name, contact),
      memo: { contact, platform: platform.name, companies },
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new MigrationExists(`there is a migration ${migrationId} already`);
  }
  return migrationId;
}

/**
 * Waits until everything that was supplied has been checked, and credentials can be sealed.
 *
 * @returns null: not in this time, because no worker runs or something that it needs does not answer
 */
export async function detailsChecked(ferry: LedgerClient, migrationId: string): Promise<Preflight | null> {
  const until = Date.now() + CHECKED_WITHIN_MS;
  while (Date.now() < until) {
    try {
      const { preflight, checking } = await ask(ferry, migrationId, progressQuery, until - Date.now());
      if (preflight && !checking) return preflight;
    } catch {
      // The migration has started, whatever keeps us from asking it; a worker may start while we wait.
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return null;
}

const CHECKED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** Temporal takes 20 KB of details. Characters. */
const CONTACT_SHOWN = 1_000;

/** For somebody who opens the migration's page in Temporal's Web UI and has never seen one. Markdown. */
function aboutIt(client: string, platform: string, contact: string): string {
  return [
    `The connections of ${client} to ${platform} are moved to the Company Data Service, so that no end customer has to connect again.`,
    '**Current Details**, beside this, say where the move is, who is waited for, and what they have to do.',
    `Whom to call: ${oneLine(contact, CONTACT_SHOWN)}`,
    BOTTOM_PADDING,
  ].join('\n\n');
}
