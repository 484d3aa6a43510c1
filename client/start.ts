import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Stream } from '../domain/text/streams';
import type { ManifestRow } from '../domain/companies/manifest';
import type { Preflight } from '../domain/migration/preflight-result';
import { DEFAULT_LIMITS, type MigrationLimits } from '../domain/planning/limits';
import { DEFAULT_DECISION_RULES, type DecisionRules, type MigrationPlan } from '../domain/migration/plan';
import { changedCount } from '../domain/migration/partial-outcome';
import { isReservedLabel, migrationIdOf } from '../domain/migration/temporal-names';
import { isRotating, type Platform, type Route } from '../platforms/platforms';
import { BOTTOM_PADDING } from '../presentation/temporal-ui/page-parts';
import {
  discardSupplied,
  manifestDigest,
  MigrationExists,
  readMigration,
  readStagedDigest,
  stageCredentials,
  supplyMigration,
  whileStarting,
  type SuppliedCredential,
} from '../store';
import { MIGRATIONS, progressQuery, TASK_QUEUE } from '../workflows/messages';
import type { LedgerClient } from './connect';
import { decide, type DecisionResult } from './decide';
import { LabelReserved, MigrationRunning } from './errors';
import { describeIfFound, isInProgress } from './workflow-ids';
import { readRetriedErrors } from './health';
import { preflightInFull, readProgressIfAnswered } from './progress';
import { queryMigration } from './query';
import { oneLine } from '../domain/text/sentences';
import { escapedMarkdown } from '../domain/text/untrusted-text';

/** The details of a migration to start. */
export interface StartRequest {
  /**
   * `managed`: six steps, approved by people. `self-service`: the client moves its own companies. Default: `managed`.
   */
  readonly route?: Route;
  /** Short name of the client: lower-case letters, digits and hyphens. Part of the migration's id. */
  readonly client: string;
  readonly platform: Platform;
  /** Distinguishes several migrations of one client and platform. Part of the migration's id. */
  readonly label?: string | undefined;
  /**
   * The manifest. Read a second time if an organization is taken, to find all rows with taken organizations. Absent:
   * the client or support supplies it in step 1 of the managed route (`supplyManifest`, or the portal).
   */
  readonly rows?: Stream<ManifestRow>;
  /** SHA-256 of the manifest, in hexadecimal. Approvals of step 1 refer to it. Absent if `rows` is absent. */
  readonly manifestDigest?: string;
  /** The person or team that the client calls for help. */
  readonly contact: string;
  /** The person who supplies the manifest. */
  readonly by: string;
  /** Reference of the company to move first; null for the first one that can be moved. */
  readonly firstCompany: string | null;
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<MigrationLimits>;
  /** Total number of expected records. Used to estimate the records of companies whose row gives no number. */
  readonly recordsInTotal?: number | undefined;
  readonly decisions?: Partial<DecisionRules>;
}

/**
 * Stores the manifest and starts the migration. If the workflow does not start, the next attempt replaces the stored
 * manifest. Waits until another start of the same migration has ended.
 *
 * @returns the migration's id: `client.platform` or `client.platform.label`
 * @throws LabelReserved
 * @throws MigrationExists
 * @throws MigrationRunning
 * @throws OrganizationTaken if another open migration has one of the organizations
 */
export async function startMigration(ferry: LedgerClient, request: StartRequest): Promise<string> {
  const { client, platform, contact, label, route = 'managed' } = request;
  if (label !== undefined && isReservedLabel(label)) throw new LabelReserved(`the label ${label} is reserved`);
  const migrationId = migrationIdOf(client, platform.slug, label);
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
  // Two starts at once would store the plan of one, and start the workflow with the plan of the other.
  return whileStarting(ferry.db, migrationId, (connection) =>
    supplyAndStart({ ...ferry, db: connection }, plan, request),
  );
}

async function supplyAndStart(ferry: LedgerClient, plan: MigrationPlan, request: StartRequest): Promise<string> {
  const { temporal, db } = ferry;
  const { migrationId, client, contact, route, limits } = plan;
  const { platform } = request;
  // A running workflow already has its plan, so the ledger must not get another one.
  if ((await readMigration(db, migrationId))?.state === 'supplied' && (await isRunningMigration(ferry, migrationId)))
    throw new MigrationRunning(migrationId);
  const companies = await supplyMigration(
    db,
    {
      id: migrationId,
      client,
      platformKey: platform.key,
      contact,
      route,
      // In self-service, the start of the migration confirms that syncing is off. The credentials are usually older
      // than this confirmation, and count nevertheless.
      rotating: route === 'managed' && isRotating(platform),
      limits,
      manifestDigest: request.manifestDigest ?? manifestDigest([]),
      suppliedBy: request.by,
      recordsInTotal: request.recordsInTotal ?? null,
      decisions: plan.decisions,
      firstCompany: plan.firstCompany,
      namespace: temporal.options.namespace,
    },
    request.rows ?? [],
  );
  try {
    await temporal.workflow.start(MIGRATIONS[route], {
      workflowId: migrationId,
      taskQueue: TASK_QUEUE,
      args: [plan],
      // An id is never reused, because the ledger and the audit trail of the migration are kept.
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      // The summary has no number of companies, because `ferry amend` can add companies.
      staticSummary: `${platform.name}: companies of ${client}`,
      staticDetails: workflowDetails(client, platform.name, contact),
      memo: { contact, platform: platform.name, ...(companies > 0 && { companies }) },
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    if (await isRunningMigration(ferry, migrationId)) throw new MigrationRunning(migrationId);
    await discardSupplied(db, migrationId);
    throw new MigrationExists(`Temporal already has a workflow with the id ${migrationId}`);
  }
  return migrationId;
}

/**
 * Returns whether the workflow with this id is a running migration, started by an earlier attempt whose answer was
 * lost. Otherwise, the workflow belongs to another program or has ended, and nothing would ever release the
 * organizations, so the caller discards the stored manifest.
 */
async function isRunningMigration({ temporalWithoutCodec }: LedgerClient, migrationId: string): Promise<boolean> {
  const existing = await describeIfFound(temporalWithoutCodec.workflow, migrationId);
  if (existing === null) return false;
  const { type, taskQueue } = existing;
  const isMigration = Object.values<string>(MIGRATIONS).includes(type) && taskQueue === TASK_QUEUE;
  return isMigration && isInProgress(existing);
}

/** The longest contact to show, in characters. Temporal limits the details of a workflow to 20 KB. */
const CONTACT_SHOWN = 1_000;

/** Returns Markdown that explains the migration to people who see it in Temporal's Web UI for the first time. */
function workflowDetails(client: string, platform: string, contact: string): string {
  return [
    `Moves ${client}'s ${platform} connections into the Company Data Service, so that end customers do not have to reconnect.`,
    'See **Current Details** for progress, who needs to act, and what to do.',
    `Who to call: ${escapedMarkdown(oneLine(contact, CONTACT_SHOWN))}`,
    BOTTOM_PADDING,
  ].join('\n\n');
}

const PREFLIGHT_WITHIN_MS = 15_000;
const POLL_EVERY_MS = 100;

/**
 * Waits up to 15 s for the preflight to check everything that was supplied. Afterwards, credentials can be sealed.
 *
 * @returns null if the preflight has not finished in time: no worker is running, a server is not answering, or the
 * account takes a long time to check
 */
export async function waitForPreflight(ferry: LedgerClient, migrationId: string): Promise<Preflight | null> {
  const deadline = Date.now() + PREFLIGHT_WITHIN_MS;
  while (Date.now() < deadline) {
    try {
      const { preflight, checking } = await queryMigration(ferry, migrationId, progressQuery, deadline - Date.now());
      if (preflight && !checking) return await preflightInFull(ferry.db, migrationId, preflight);
    } catch {
      // Ignored, because the migration has started, and a worker can still start before the deadline.
    }
    await delay(POLL_EVERY_MS);
  }
  return null;
}

/** The result of starting a self-service migration. */
export interface SelfServiceStart {
  readonly migrationId: string;
  /**
   * Number of credentials that the migration uses, or will use once `decision` is applied. 0 if the decision was
   * refused.
   */
  readonly stored: number;
  /**
   * Number of credentials that were sealed and stored before the decision was sent, even if the decision was refused or
   * does not use all of them.
   */
  readonly staged: number;
  /** The result of the decision that supplied the credentials; null if no decision was sent. */
  readonly decision: DecisionResult | null;
  /** Null if the preflight has not finished, in which case no credential was sealed. */
  readonly preflight: Preflight | null;
  /** The failures that keep the preflight from finishing; empty if none are known. */
  readonly retriedErrors: readonly string[];
}

/**
 * Starts a self-service migration, and supplies the credentials once the preflight has finished. The start itself
 * confirms, in the name of `by`, that nothing else uses the companies' tokens.
 *
 * @throws LabelReserved
 * @throws MigrationExists
 * @throws MigrationRunning
 * @throws OrganizationTaken if another open migration has one of the organizations
 */
export async function startSelfService(
  ferry: LedgerClient,
  request: Omit<StartRequest, 'route' | 'firstCompany' | 'decisions'> &
    Required<Pick<StartRequest, 'rows' | 'manifestDigest'>>,
  credentials: Stream<SuppliedCredential>,
): Promise<SelfServiceStart> {
  const { by } = request;
  const migrationId = await startMigration(ferry, { ...request, route: 'self-service', firstCompany: null });
  const preflight = await waitForPreflightWhileRunning(ferry, migrationId);
  const started = { migrationId, stored: 0, staged: 0, decision: null, preflight, retriedErrors: [] };
  if (!preflight) return { ...started, retriedErrors: await readRetriedErrors(ferry, migrationId) };
  const decisionId = randomUUID();
  const staged = { decisionId, replaces: false, provider: ferry.providerFingerprint };
  const { stored } = await stageCredentials(ferry.db, migrationId, credentials, by, staged);
  if (stored.length === 0) return started;
  const sealedDigest = await readStagedDigest(ferry.db, migrationId, staged);
  const content = { decisionId, companies: stored.length, sealedDigest, role: 'client', by } as const;
  const decision = await decide(ferry, migrationId, 'credentialsSupplied', content);
  const kept = decision.outcome === 'refused' ? 0 : changedCount(decision, stored.length);
  return { ...started, stored: kept, staged: stored.length, decision };
}

/**
 * Waits for the preflight. Has no deadline while a worker is making progress, because a large account takes a long time
 * to check.
 *
 * @returns null if no worker is answering or something keeps failing
 */
async function waitForPreflightWhileRunning(ferry: LedgerClient, migrationId: string): Promise<Preflight | null> {
  for (;;) {
    const preflight = await waitForPreflight(ferry, migrationId);
    if (preflight) return preflight;
    if ((await readRetriedErrors(ferry, migrationId)).length > 0) return null;
    if (!(await readProgressIfAnswered(ferry, migrationId))) return null;
  }
}
