/**
 * The trial of a complete setup: one migration, during which parts are killed and started again. The checker of the
 * chaos suite then compares the ledger, the service and the report.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { counted } from '../domain/text/sentences';
import { check, type CheckResult } from './checker';
import type { Cluster, ClusterProcess } from './cluster';
import { putApplications, withLedgerClient, runFerry } from './driver/clients';
import { companiesFor, platformOf } from './driver/companies';
import { ChaosMigration } from './driver/migration';
import { watchMoves } from './driver/moves';
import { DECISION_LOG, writeEvidence, writeReports, type EvidenceSources } from './evidence';
import { recoveryText, superviseUntil } from './run';

/** A platform on which a supplied refresh token can be used only once. */
const PLATFORM = 'quickbooks-online';
const FIRST_ORGANIZATION = 5_000_000_000;
/** How long a part is down. */
const DOWN_MS = 2_000;
const NEXT_MOVE_WITHIN_MS = 60_000;
const OUTCOMES_WITHIN_MS = 900_000;

/** The running setup in which the trial migrates companies. */
export type TrialSetup = EvidenceSources & Pick<Cluster, 'variables'>;

export interface TrialOptions {
  readonly companies: number;
  /** The parts to kill. `start` resolves when the part is ready again. */
  readonly parts: readonly Pick<ClusterProcess, 'name' | 'kill' | 'start'>[];
  /**
   * How long it takes, roughly, to kill a part and see the next move. Sets the pace, so that companies are still moving
   * when the last part is killed.
   */
  readonly perPartMs: number;
  /** The folder for the reports and the evidence. Created if it does not exist. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

export interface TrialResult {
  readonly killed: number;
  readonly moved: number;
  readonly tookMs: number;
  readonly check: CheckResult;
}

export async function runTrial(setup: TrialSetup, options: TrialOptions): Promise<TrialResult> {
  const { companies, parts, perPartMs, folder, log } = options;
  mkdirSync(folder, { recursive: true });
  return withLedgerClient(setup.variables, async (ferry) => {
    const platform = platformOf(PLATFORM);
    await putApplications(setup.variables, [platform]);
    const companiesPerMinute = Math.max(1, Math.floor((companies * 60_000) / (parts.length * perPartMs)));
    const migration = await ChaosMigration.start(ferry, {
      ...{ client: 'trial', platform, signers: [], decisionLog: path.join(folder, DECISION_LOG) },
      companies: companiesFor(platform, companies, FIRST_ORGANIZATION, null),
      limits: { companiesPerMinute, rampCompanies: 5 },
    });
    await migration.beginBatch();
    const beganAtMs = Date.now();
    log(`${migration.id} is moving ${counted(companies, 'company')}, at most ${companiesPerMinute} a minute`);
    await killEach(setup, parts, migration, log);
    const { counts } = await migration.awaitOutcomes(OUTCOMES_WITHIN_MS);
    const tookMs = Date.now() - beganAtMs;
    await migration.signOff();
    const reports = await writeReports(setup, migration.id, folder);
    const evidence = writeEvidence(setup, [migration], [reports], folder);
    return { killed: parts.length, moved: counts.moved, tookMs, check: await check(evidence) };
  });
}

/** Kills the parts one after another, and waits until each has started again. */
async function killEach(
  { databases }: TrialSetup,
  parts: TrialOptions['parts'],
  migration: ChaosMigration,
  log: (line: string) => void,
): Promise<void> {
  const moves = watchMoves(databases.ledger.url);
  const supervision = new AbortController();
  const supervised = superviseUntil(supervision.signal, [migration]);
  try {
    for (const part of parts) {
      await part.kill();
      await delay(DOWN_MS);
      await part.start();
      log(`  kill ${part.name}: ${recoveryText(await moves.nextMove(Date.now(), NEXT_MOVE_WITHIN_MS))}`);
    }
  } finally {
    supervision.abort();
    await supervised;
    await moves.stop();
  }
}

/**
 * Runs `ferry doctor` against the cluster.
 *
 * @returns its output
 * @throws if it finds a problem
 */
export function examine({ variables }: Cluster, codecUrl: string): Promise<string> {
  return runFerry({ ...variables, TEMPORAL_CODEC_ENDPOINT: codecUrl }, ['doctor']);
}
