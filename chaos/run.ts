/** One run of the chaos suite: migrations, the faults of one seed, and the evidence for the checker. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerClient } from '../client';
import { createSigningKey, parseSigningKey, Secret } from '../security';
import { check, type CheckResult } from './checker';
import { processesOf, type Cluster } from './cluster';
import { putApplications, withLedgerClient } from './driver/clients';
import { companiesFor, platformOf } from './driver/companies';
import { CLIENT, ChaosMigration, SUPPORT } from './driver/migration';
import { watchMoves, type Recovery } from './driver/moves';
import { DECISION_LOG, writeEvidence, writeReports } from './evidence';
import { drawFaults, quickFaults, writeChangedBundle, type FaultContext } from './faults';
import { randomOf } from './random';

/** On both platforms, a supplied refresh token can be used only once. */
const PLATFORMS = ['quickbooks-online', 'freshbooks'] as const;
const COMPANIES_PER_MINUTE = 100;
/** The approximate number of companies of each migration that are left when the last fault has been repaired. */
const COMPANIES_LEFT = 40;
const OUTCOMES_WITHIN_MS = 600_000;
const NEXT_MOVE_WITHIN_MS = 60_000;
/** The number of organization ids that are reserved for each migration. A seed has two migrations. */
const ORGANIZATIONS_PER_MIGRATION = 100_000;

export interface RunOptions {
  readonly seed: number;
  /** Duration of fault injection, in milliseconds. The number of companies depends on it. */
  readonly forMs: number;
  /** True: injects the few faults of a quick run, however long that takes. */
  readonly quick: boolean;
  /** Only faults whose name contains this text are injected; empty for all. */
  readonly only: string;
  /** The folder for the evidence. Created if it does not exist. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

export interface InjectedFault {
  readonly name: string;
  /** Milliseconds from the repair to the next move. `timed out`: none within a minute. Null: no company was waiting. */
  readonly recovery: Recovery;
}

export interface RunResult {
  readonly seed: number;
  readonly companies: number;
  readonly faults: readonly InjectedFault[];
  readonly check: CheckResult;
  /** The number of companies whose outcome was unknown after the last fault. */
  readonly unknown: number;
  /** The companies of unknown outcome that a retry then moved, each as `<migration> <reference>`. */
  readonly movedByRetry: readonly string[];
}

/** Runs the faults of a seed in a cluster, which can have been used before. The workers must be running. */
export async function runSeed(cluster: Cluster, options: RunOptions): Promise<RunResult> {
  const { seed, folder, log } = options;
  mkdirSync(folder, { recursive: true });
  return withLedgerClient(cluster.variables, async (ferry) => {
    const migrations = await startMigrations(ferry, cluster, options);
    log(`seed ${seed}: ${migrations.map(({ id }) => id).join(' and ')} begin their batches`);
    await Promise.all(migrations.map((migration) => migration.beginBatch()));
    const context = { cluster, ferry, migrations, changedBundle: writeChangedBundle(folder) };
    const faults = await injectFaults(context, options);
    // If the fault `newBuild` has put its changed build on a worker, the worker keeps this build, because runs that
    // began on the build are pinned to it.
    log('waiting for the remaining companies');
    await Promise.all(migrations.map((migration) => migration.awaitOutcomes(OUTCOMES_WITHIN_MS)));
    const retried = await Promise.all(migrations.map((migration) => migration.retryUnknown(OUTCOMES_WITHIN_MS)));
    await Promise.all(migrations.map((migration) => migration.signOff()));
    const reports = await Promise.all(migrations.map(({ id }) => writeReports(cluster, id, folder)));
    const evidence = writeEvidence(cluster, migrations, reports, folder);
    return {
      seed,
      companies: migrations.reduce((sum, { companies }) => sum + companies.length, 0),
      faults,
      check: await check(evidence),
      unknown: retried.reduce((sum, { unknown }) => sum + unknown.length, 0),
      movedByRetry: migrations.flatMap(({ id }, index) =>
        (retried[index]?.movedByRetry ?? []).map((reference) => `${id} ${reference}`),
      ),
    };
  });
}

async function startMigrations(
  ferry: LedgerClient,
  { variables }: Cluster,
  { seed, folder, forMs }: RunOptions,
): Promise<readonly ChaosMigration[]> {
  const count = Math.ceil((forMs / 60_000) * COMPANIES_PER_MINUTE) + COMPANIES_LEFT;
  const platforms = PLATFORMS.map(platformOf);
  await putApplications(variables, platforms);
  return Promise.all(
    platforms.map((platform, index) => {
      const signers =
        index === 0 ? [] : [SUPPORT.by, CLIENT.by].map((by) => parseSigningKey(new Secret(createSigningKey(by))));
      const firstOrganization = 1_000_000_000 + (2 * seed + index) * ORGANIZATIONS_PER_MIGRATION;
      return ChaosMigration.start(ferry, {
        client: `seed-${seed}`,
        platform,
        companies: companiesFor(platform, count, firstOrganization, randomOf(`${seed}/${platform.slug}`)),
        limits: { companiesPerMinute: COMPANIES_PER_MINUTE, rampCompanies: 5, slicesAtOnce: 2 },
        signers,
        decisionLog: path.join(folder, DECISION_LOG),
      });
    }),
  );
}

async function injectFaults(
  context: FaultContext,
  { seed, forMs, quick, only, log }: RunOptions,
): Promise<readonly InjectedFault[]> {
  const { cluster, migrations } = context;
  const moves = watchMoves(cluster.databases.ledger.url);
  const supervision = new AbortController();
  const supervised = superviseUntil(supervision.signal, migrations);
  const injected: InjectedFault[] = [];
  const endsAtMs = Date.now() + forMs;
  try {
    for (const fault of quick ? quickFaults(context, seed) : drawFaults(context, seed)) {
      if (!fault.name.includes(only)) continue;
      await fault.begin();
      await delay(fault.lastsMs);
      await fault.repair();
      await restartDead(cluster, log);
      const recovery = await moves.nextMove(Date.now(), NEXT_MOVE_WITHIN_MS);
      injected.push({ name: fault.name, recovery });
      log(`  ${fault.name}: ${recoveryText(recovery)}`);
      if (!quick && Date.now() > endsAtMs) break;
    }
    return injected;
  } finally {
    supervision.abort();
    await supervised;
    await moves.stop();
  }
}

/** Restarts processes that have ended without being killed, as a process supervisor does. */
async function restartDead(cluster: Cluster, log: (line: string) => void) {
  for (const each of processesOf(cluster)) {
    if (each.running) continue;
    log(`  ${each.name} exited unexpectedly and is being restarted`);
    await each.start();
  }
}

export function recoveryText(recovery: Recovery): string {
  if (recovery === null) return 'no company was waiting';
  return recovery === 'timed out' ? 'no move within a minute' : `recovered after ${(recovery / 1_000).toFixed(1)} s`;
}

/** Supervises the migrations during the faults, as the solutions team does. */
export async function superviseUntil(signal: AbortSignal, migrations: readonly ChaosMigration[]): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(migrations.map((migration) => migration.supervise()));
    await delay(1_000);
  }
}
