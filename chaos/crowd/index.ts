/**
 * The crowd: many migrations move companies at the same time, without faults. Measures how long a small migration takes
 * in the crowd, compared with such a migration while nothing else runs.
 */
import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerClient } from '../../client';
import type { MigrationLimits } from '../../domain/planning/limits';
import { counted } from '../../domain/text/sentences';
import { withCluster, type Cluster } from '../cluster';
import { putApplications, withLedgerClient } from '../driver/clients';
import { companiesFor, platformOf } from '../driver/companies';
import { ChaosMigration } from '../driver/migration';
import { DECISION_LOG } from '../evidence';
import { medianTime, type CrowdResult } from './report';
import { measureMove, movedCompanies, slotWaits, type SmallMove } from './small-move';

/** The migrations are divided between these platforms. */
const PLATFORMS = ['quickbooks-online', 'freshbooks'] as const;
const SMALL = 10;
const LARGE = 1_000;
const MEDIUM = 50;
const REPETITIONS = 9;
/** Migrations that are prepared at the same time. */
const PREPARED_AT_ONCE = 10;
/**
 * Keeps the crowd moving while the small migrations are measured: in a crowd of 100 migrations, about six companies per
 * second, three times as many as the service's default rate limit allows. At ten per second, two cores are fully used,
 * and the times show how slow the machine is, not how long a migration waits for others.
 */
const CROWD_LIMITS: Partial<MigrationLimits> = { companiesPerMinute: 3, rampCompanies: 5 };
const LARGE_LIMITS: Partial<MigrationLimits> = { companiesPerMinute: 60, rampCompanies: 5 };
const PREPARED_WITHIN_MS = 900_000;
/** All batches of the crowd begin at the same moment. After this time, the resulting burst of work is over. */
const SETTLED_AFTER_MS = 120_000;
const FIRST_ORGANIZATION = 3_000_000_000;

export { crowdLines, TARGET } from './report';

export interface CrowdOptions {
  /** The number of migrations that move companies at the same time: the crowd and one small migration. */
  readonly migrations: number;
  readonly folder: string;
  readonly log: (line: string) => void;
}

/** Measures in a cluster of its own. On SIGINT or SIGTERM, stops the cluster and exits. */
export async function crowd(options: CrowdOptions): Promise<CrowdResult> {
  const { folder, log } = options;
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const cluster = { folder: path.join(folder, 'cluster'), log, versioned: true };
  return withCluster(cluster, ['SIGINT', 'SIGTERM'], (running) => measure(running, options));
}

async function measure(cluster: Cluster, { migrations, folder, log }: CrowdOptions): Promise<CrowdResult> {
  return withLedgerClient(cluster.variables, async (ferry) => {
    await putApplications(cluster.variables, PLATFORMS.map(platformOf));
    const prepare = preparer(ferry, folder);
    const smallOnes = (kind: string) =>
      Promise.all(Array.from({ length: REPETITIONS }, (_, index) => prepare(`${kind}-${index + 1}`, SMALL, {})));
    const [beforeCrowd, inCrowd] = [await smallOnes('alone'), await smallOnes('crowded')];
    // Lets the workers compile their code and open their connections first.
    await measureMove(ferry, await prepare('warm-up', SMALL, {}));
    const alone = await measureEach(ferry, beforeCrowd, log);
    const load = { alone: loadavg()[0] ?? 0, cpus: cpus().length };

    log(`preparing ${migrations - 1} migrations`);
    const others = await prepareCrowd(prepare, migrations - 1);
    await Promise.all(others.map((migration) => migration.approveFirstCompany()));
    log(`${others.length} migrations have begun their batches`);
    await delay(SETTLED_AFTER_MS);
    const [movedBefore, beganAtMs] = [await movedCompanies(cluster), Date.now()];
    const crowded = await measureEach(ferry, inCrowd, log);
    const movedMeanwhile = (await movedCompanies(cluster)) - movedBefore - REPETITIONS * SMALL;
    return {
      ...{ migrations, alone, crowded },
      ratio: medianTime(crowded) / medianTime(alone),
      crowdRate: movedMeanwhile / ((Date.now() - beganAtMs) / 1_000),
      load: { ...load, crowded: loadavg()[0] ?? 0 },
    };
  });
}

type Prepare = (client: string, companies: number, limits: Partial<MigrationLimits>) => Promise<ChaosMigration>;

/** Returns a function that starts a migration and takes it to step 5, where its first company can be approved. */
function preparer(ferry: LedgerClient, folder: string): Prepare {
  let begun = 0;
  let nextOrganization = FIRST_ORGANIZATION;
  return async (client, count, limits) => {
    const platform = platformOf(PLATFORMS[begun % PLATFORMS.length] ?? PLATFORMS[0]);
    begun += 1;
    // One more than is measured, because the first company is moved before the batch.
    const companies = companiesFor(platform, count + 1, nextOrganization, null);
    nextOrganization += companies.length;
    const migration = await ChaosMigration.start(ferry, {
      ...{ client, platform, companies, limits, signers: [] },
      ...{ preparedWithinMs: PREPARED_WITHIN_MS, decisionLog: path.join(folder, DECISION_LOG) },
    });
    await migration.releaseFirstCompany('all');
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified', PREPARED_WITHIN_MS);
    return migration;
  };
}

/** Prepares one large migration, and medium ones. */
async function prepareCrowd(prepare: Prepare, count: number): Promise<readonly ChaosMigration[]> {
  const prepared: ChaosMigration[] = [];
  let next = 1;
  const prepareNext = async (): Promise<void> => {
    while (next <= count) {
      const number = next;
      next += 1;
      const isLarge = number === 1;
      const [companies, limits] = isLarge ? [LARGE, LARGE_LIMITS] : [MEDIUM, CROWD_LIMITS];
      prepared.push(await prepare(`crowd-${number}`, companies, limits));
    }
  };
  await Promise.all(Array.from({ length: PREPARED_AT_ONCE }, prepareNext));
  return prepared;
}

async function measureEach(
  ferry: LedgerClient,
  migrations: readonly ChaosMigration[],
  log: (line: string) => void,
): Promise<readonly SmallMove[]> {
  const moves: SmallMove[] = [];
  for (const migration of migrations) {
    const move = { ...(await measureMove(ferry, migration)), ...(await slotWaits(ferry, migration.id)) };
    const { tookMs, longestWaitMs, allWaitsMs, retriedActivities } = move;
    log(
      `${migration.id}: ${tookMs} ms, of which its activities waited ${allWaitsMs} ms for a worker (longest ${longestWaitMs} ms); ${counted(retriedActivities, 'retried activity')}`,
    );
    moves.push(move);
  }
  return moves;
}
