/** A managed migration, taken through its steps as `ferry` does it. */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { LedgerClient } from '../client';
import { decide, readProgress, startMigration } from '../client';
import { manifestDigest } from '../cli/manifest';
import type { MigrationLimits } from '../domain/planning/limits';
import { batchRunIdOf } from '../domain/migration/plan';
import type { Progress } from '../domain/progress/progress';
import { Secret } from '../security';
import { countCompanies, supplyCredentials } from '../store';
import type { MovedCompany } from './companies';
import { AT_ONCE, companiesOf, newCompanies, PLATFORM } from './companies';

export const SUPPORT = { role: 'support', by: 'Sam' } as const;
export const CLIENT = { role: 'client', by: 'Cleo' } as const;

const LOOK_EVERY_MS = 100;
const SUPPLIED_AT_ONCE = 1_000;
/** Between two looks at how far a batch is: each reads all of its rows. */
const COUNT_EVERY_MS = 5_000;

let migrations = 0;

/** Supplies so many new companies and starts their migration; it waits for the acceptance of its details. */
export async function startMeasured(
  ferry: LedgerClient,
  companies: readonly MovedCompany[],
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
    limits: { ...AT_ONCE, rampCompanies: 0, ...limits },
  });
}

/** Resolves with the progress of a migration once it is as wanted. */
export async function untilProgress(
  ferry: LedgerClient,
  id: string,
  reached: (progress: Progress) => boolean,
): Promise<Progress> {
  for (;;) {
    const progress = await readProgress(ferry, id);
    if (reached(progress)) return progress;
    await delay(LOOK_EVERY_MS);
  }
}

/** Sends a decision that must be applied. */
export async function decideOn(ferry: LedgerClient, id: string, ...[message, sent]: DecisionSent): Promise<void> {
  const { became, text } = await decide(ferry, id, message, sent);
  if (became !== 'applied') throw new Error(`${id}: ${message} was ${became}: ${text}`);
}

type DecisionSent = Parameters<typeof decide> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/** A migration whose first company has been moved and proven: its batch begins with one approval. */
export interface ReadyBatch {
  readonly id: string;
  /** Without the first one. */
  readonly companies: number;
}

/** Takes a migration of so many companies, beside the first one, through steps 1 to 5. */
export async function readyBatch(
  ferry: LedgerClient,
  count: number,
  limits: Partial<MigrationLimits> = {},
): Promise<ReadyBatch> {
  const companies = companiesOf(newCompanies(count + 1));
  const id = await startMeasured(ferry, companies, limits);
  const decided = (...sent: DecisionSent) => decideOn(ferry, id, ...sent);
  await untilProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  await decided('approve', { step: 'supply-details', ...SUPPORT });
  await decided('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  await decided('approve', { step: 'schedule', ...SUPPORT });
  await decided('approve', { step: 'schedule', ...CLIENT });
  await decided('approve', { step: 'update-application', ...CLIENT });
  await decided('approve', { step: 'update-application', ...SUPPORT });
  await decided('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await untilProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
  await supplyAll(ferry, id, companies);
  await decided('credentialsSupplied', { companies: companies.length, ...CLIENT });
  await untilProgress(
    ferry,
    id,
    ({ firstCompany, step }) => step === 'migrate-first-company' && firstCompany?.stage === 'proven',
  );
  return { id, companies: count };
}

async function supplyAll(ferry: LedgerClient, id: string, companies: readonly MovedCompany[]): Promise<void> {
  const obtainedAt = new Date().toISOString();
  for (let from = 0; from < companies.length; from += SUPPLIED_AT_ONCE) {
    const credentials = companies
      .slice(from, from + SUPPLIED_AT_ONCE)
      .map(({ reference, credential }) => ({ reference, fields: new Secret(credential), obtainedAt }));
    await supplyCredentials(ferry.db, id, credentials, 'Cleo');
  }
}

/**
 * Approves the first company and waits until the batch run that this begins has ended.
 *
 * @param report told from time to time how many companies have moved
 * @returns how long it took, from the approval on. Milliseconds.
 * @throws when not every company was moved
 */
export async function moveBatch(
  ferry: LedgerClient,
  { id, companies }: ReadyBatch,
  report: (moved: number) => void,
): Promise<number> {
  const counting = setInterval(() => {
    countCompanies(ferry.db, id).then(
      ({ migrated }) => report(migrated - 1),
      () => undefined,
    );
  }, COUNT_EVERY_MS);
  try {
    const startedAt = performance.now();
    await ferry.temporal.workflow.getHandle(id).signal('approve', { step: 'migrate-first-company', ...SUPPORT });
    await batchEnded(ferry, id);
    const tookMs = performance.now() - startedAt;
    const { migrated } = await countCompanies(ferry.db, id);
    if (migrated !== companies + 1) throw new Error(`${id}: ${migrated} of ${companies + 1} companies have moved`);
    return tookMs;
  } finally {
    clearInterval(counting);
  }
}

async function batchEnded({ temporal }: LedgerClient, id: string): Promise<void> {
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
