/**
 * Takes a managed migration through its steps. Makes the same calls as `ferry`, with two exceptions: credentials are
 * stored without being staged, and the approval of the first company is sent as a signal.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { decide, readProgress, startMigration, type LedgerClient } from '../client';
import { manifestDigest } from '../cli/manifest';
import type { MigrationLimits } from '../domain/planning/limits';
import { batchRunIdOf } from '../domain/migration/temporal-names';
import type { Progress } from '../domain/progress/progress';
import { findPlatform, type Platform } from '../platforms/platforms';
import { Secret } from '../security';
import { countCompanies, supplyCredentials } from '../store';
import { CONCURRENCY, companiesOf, allocateCompanies, type BenchCompany } from './companies';

export const PLATFORM = platform('quickbooks-online');

export const SUPPORT = { role: 'support', by: 'Sam' } as const;
export const CLIENT = { role: 'client', by: 'Cleo' } as const;

const POLL_MS = 100;
const CREDENTIALS_PER_STATEMENT = 1_000;
/** The interval is long, because each count reads all rows of the batch. */
const COUNT_INTERVAL_MS = 5_000;

let migrations = 0;

/** Starts a migration of these companies and returns its id. */
export async function startBenchMigration(
  ferry: LedgerClient,
  companies: readonly BenchCompany[],
  limits: Partial<MigrationLimits> = {},
): Promise<string> {
  migrations += 1;
  const rows = companies.map(({ credential: _, ...row }) => ({ ...row, wave: null, family: null }));
  return startMigration(ferry, {
    client: `client-${migrations}`,
    platform: PLATFORM,
    rows,
    manifestDigest: manifestDigest(rows),
    contact: 'the solutions team',
    by: 'Sam',
    firstCompany: null,
    limits: { ...CONCURRENCY, rampCompanies: 0, ...limits },
  });
}

/** Polls the progress of a migration until `isReached` accepts it, and returns that progress. */
export async function awaitProgress(
  ferry: LedgerClient,
  id: string,
  isReached: (progress: Progress) => boolean,
): Promise<Progress> {
  for (;;) {
    const progress = await readProgress(ferry, id);
    if (isReached(progress)) return progress;
    await delay(POLL_MS);
  }
}

/** Sends a decision and throws if it was not applied. */
export async function applyDecision(ferry: LedgerClient, id: string, ...[message, sent]: DecisionSent): Promise<void> {
  const { outcome, text } = await decide(ferry, id, message, sent);
  if (outcome !== 'applied') throw new Error(`${id}: ${message} was ${outcome}: ${text}`);
}

type DecisionSent = Parameters<typeof decide> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/** A migration whose first company has been moved and verified, so that one approval starts its batch. */
export interface PreparedBatch {
  readonly id: string;
  /** The number of companies, without the first one. */
  readonly companies: number;
}

/**
 * Starts a migration of `count` companies plus the first company, and takes it to the point where only the approval
 * that ends step 5 is missing.
 */
export async function prepareBatch(
  ferry: LedgerClient,
  count: number,
  limits: Partial<MigrationLimits> = {},
): Promise<PreparedBatch> {
  const companies = companiesOf(allocateCompanies(count + 1));
  const id = await startBenchMigration(ferry, companies, limits);
  const send = (...sent: DecisionSent) => applyDecision(ferry, id, ...sent);
  await awaitProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  await send('approve', { step: 'supply-details', ...SUPPORT });
  await send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  await send('approve', { step: 'schedule', ...SUPPORT });
  await send('approve', { step: 'schedule', ...CLIENT });
  await send('approve', { step: 'update-application', ...CLIENT });
  await send('approve', { step: 'update-application', ...SUPPORT });
  await send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await awaitProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
  await supplyAll(ferry, id, companies);
  await send('credentialsSupplied', { companies: companies.length, ...CLIENT });
  await awaitProgress(
    ferry,
    id,
    ({ firstCompany, step }) => step === 'migrate-first-company' && firstCompany?.stage === 'verified',
  );
  return { id, companies: count };
}

async function supplyAll(ferry: LedgerClient, id: string, companies: readonly BenchCompany[]): Promise<void> {
  const obtainedAt = new Date().toISOString();
  for (let from = 0; from < companies.length; from += CREDENTIALS_PER_STATEMENT) {
    const credentials = companies
      .slice(from, from + CREDENTIALS_PER_STATEMENT)
      .map(({ reference, credential }) => ({ reference, fields: new Secret(credential), obtainedAt }));
    await supplyCredentials(ferry.db, id, credentials, 'Cleo');
  }
}

/**
 * Approves the first company and waits until the batch run has ended.
 *
 * @param report called every few seconds with the number of moved companies, without the first one
 * @returns the time from the approval to the end of the batch run, in milliseconds
 * @throws if a company was not moved
 */
export async function moveBatch(
  ferry: LedgerClient,
  { id, companies }: PreparedBatch,
  report: (moved: number) => void,
): Promise<number> {
  const counting = setInterval(() => {
    countCompanies(ferry.db, id).then(
      ({ moved }) => report(moved - 1),
      () => undefined,
    );
  }, COUNT_INTERVAL_MS);
  try {
    const startedAt = performance.now();
    await ferry.temporal.workflow.getHandle(id).signal('approve', { step: 'migrate-first-company', ...SUPPORT });
    await awaitBatchEnd(ferry, id);
    const tookMs = performance.now() - startedAt;
    const { moved } = await countCompanies(ferry.db, id);
    if (moved !== companies + 1) throw new Error(`${id}: only ${moved} of ${companies + 1} companies were moved`);
    return tookMs;
  } finally {
    clearInterval(counting);
  }
}

async function awaitBatchEnd({ temporal }: LedgerClient, id: string): Promise<void> {
  for (;;) {
    try {
      await temporal.workflow.getHandle(batchRunIdOf(id)).result();
      return;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await delay(10);
    }
  }
}

function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table has no entry ${slug}`);
  return found;
}
