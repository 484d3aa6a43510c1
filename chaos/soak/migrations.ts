/** The migrations of a soak: they begin at regular intervals, whether or not earlier ones have been completed. */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerClient } from '../../client';
import { createSigningKey, parseSigningKey, Secret } from '../../security';
import type { Evidence } from '../checker';
import type { Cluster } from '../cluster';
import { putApplications } from '../driver/clients';
import { companiesFor, platformOf } from '../driver/companies';
import { CLIENT, ChaosMigration, SUPPORT } from '../driver/migration';
import { DECISION_LOG, writeReports } from '../evidence';
import { randomOf } from '../random';

/** On both platforms, a supplied refresh token can be used only once. */
const PLATFORMS = ['quickbooks-online', 'freshbooks'] as const;
const COMPANIES = 300;
/** Two companies each second, so that about two migrations move companies at the same time. */
const COMPANIES_PER_MINUTE = 120;
/** 300 companies every 75 s are 4 companies/s. */
const BEGIN_EVERY_MS = 75_000;
/** Long enough for several lost answers, each of which delays the first company by the lease of 135 s. */
const PREPARED_WITHIN_MS = 900_000;
const OUTCOMES_WITHIN_MS = 1_800_000;
const FIRST_ORGANIZATION = 2_000_000_000;

export interface SoakedMigrations {
  readonly migrations: readonly ChaosMigration[];
  /** The reports of the migrations that were signed off. */
  readonly reports: Evidence['reports'];
  /** The number of companies whose outcome was unknown. */
  readonly unknown: number;
  /** The companies of unknown outcome that a retry then moved, each as `<migration> <reference>`. */
  readonly movedByRetry: readonly string[];
  /** A line for each migration that was not signed off, with the reason. */
  readonly unfinished: readonly string[];
}

interface MigrationsOptions {
  readonly seed: number;
  /** Once this signal is aborted, no more migrations begin. */
  readonly ending: AbortSignal;
  readonly folder: string;
  readonly log: (line: string) => void;
}

/** Begins migrations until the signal aborts, and waits until the last ones are signed off. */
export async function runMigrations(
  ferry: LedgerClient,
  cluster: Cluster,
  { seed, ending, folder, log }: MigrationsOptions,
): Promise<SoakedMigrations> {
  const platforms = PLATFORMS.map(platformOf);
  await putApplications(cluster.variables, platforms);
  const migrations: ChaosMigration[] = [];
  const reports: Evidence['reports'][number][] = [];
  const unfinished: string[] = [];
  const movedByRetry: string[] = [];
  let unknown = 0;

  async function runOne(number: number): Promise<void> {
    const platform = platforms[number % platforms.length] ?? platformOf(PLATFORMS[0]);
    const isSigned = Math.floor(number / platforms.length) % 2 === 1;
    const random = randomOf(`${seed}/soak/migration/${number}`);
    const migration = await ChaosMigration.start(ferry, {
      client: `soak-${number + 1}`,
      platform,
      companies: companiesFor(platform, COMPANIES, FIRST_ORGANIZATION + number * COMPANIES, random),
      limits: { companiesPerMinute: COMPANIES_PER_MINUTE, rampCompanies: 5, slicesAtOnce: 2 },
      signers: isSigned ? [SUPPORT.by, CLIENT.by].map((by) => parseSigningKey(new Secret(createSigningKey(by)))) : [],
      preparedWithinMs: PREPARED_WITHIN_MS,
      decisionLog: path.join(folder, DECISION_LOG),
    });
    migrations.push(migration);
    await migration.beginBatch();
    await migration.awaitOutcomes(OUTCOMES_WITHIN_MS);
    const retried = await migration.retryUnknown(OUTCOMES_WITHIN_MS);
    unknown += retried.unknown.length;
    movedByRetry.push(...retried.movedByRetry.map((reference) => `${migration.id} ${reference}`));
    await migration.signOff();
    reports.push(await writeReports(cluster, migration.id, folder));
    log(`${migration.id} is complete`);
  }

  const running: Promise<void>[] = [];
  for (let number = 0; !ending.aborted; number += 1) {
    const completed = runOne(number).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      unfinished.push(`soak-${number + 1}: ${reason}`);
      log(`soak-${number + 1} was not completed: ${reason}`);
    });
    running.push(completed);
    await delay(BEGIN_EVERY_MS, undefined, { signal: ending }).catch(() => undefined); // the soak ends
  }
  await Promise.all(running);
  return { migrations, reports, unknown, movedByRetry, unfinished };
}
