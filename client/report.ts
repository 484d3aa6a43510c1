import type { CompanyState } from '../domain/companies/company-state';
import type { ReportHead } from '../presentation/handover/report-facts';
import type { Ending } from '../domain/migration/migration-state';
import { endingByDecisions } from '../domain/decisions/release';
import { createTrailVerifier } from '../domain/decisions/audit-trail';
import { createLedgerProof } from '../domain/decisions/ledger-proof';
import {
  isSameApplication,
  type ApplicationsOfMoved,
  type MovedWithApplication,
} from '../domain/preflight/applications';
import type { Approver } from '../domain/migration/approvers';
import { withEndInTemporal } from '../domain/migration/stoppage';
import {
  countCompanies,
  readApplicationsByCompany,
  readApplicationsOfMoved,
  readChangedSinceSignOff,
  readCompanies,
  readDecisions,
  readFigures,
  readLedgerStatus,
  readLedgerSummary,
  readMigration,
  readProposedStart,
  readRecordedDecisions,
  readStatistics,
  readStoppages,
  readTrail,
  type LedgerCompany,
  type MigrationStatistics,
  type StoredMigration,
} from '../store';
import { readEndBeforeClosing } from './ended-migrations';
import { NoSuchMigration } from './errors';
import type { LedgerClient } from './connect';
import { isLedgerProvenBehind } from './reconcile';

/** A company with the fields that the client may see. */
export type ReportedLedgerCompany = Omit<LedgerCompany, 'heldBackDetails'>;

/** The handover report. Companies are streamed because there can be any number of them. */
export interface HandoverReport {
  readonly head: ReportHead;
  /** Streams the companies in the manifest's order; with `states`, only those in these ledger states. */
  readonly companies: (states?: readonly CompanyState[]) => AsyncIterable<ReportedLedgerCompany>;
  /**
   * Reads the companies whose application was replaced after they were connected. Maps the reference of each company to
   * its application and to the companies that were moved with this application.
   */
  readonly replaced: () => Promise<ReadonlyMap<string, MovedWithApplication>>;
  /** Reads the data for the charts. */
  readonly statistics: () => Promise<MigrationStatistics>;
}

/**
 * Reads the current report from the ledger and the audit trail. Works at any time, even after Temporal has deleted the
 * workflow. Until the migration has ended, also asks Temporal whether the workflow has ended abnormally, and whether
 * the ledger is behind it.
 *
 * @throws NoSuchMigration
 */
export async function readReport(
  ferry: LedgerClient | Pick<LedgerClient, 'db'>,
  migrationId: string,
): Promise<HandoverReport> {
  const { db } = ferry;
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const { route, client, platformKey, contact, paused, suppliedBy } = migration;
  // The ledger keeps the estimate of a start that was withdrawn or replaced until it stores another estimate.
  const isPlanned = migration.planned?.startAt === (await readProposedStart(db, migrationId));
  const planned = isPlanned ? migration.planned : null;
  const endedInTemporal = await readEndBeforeClosing('temporal' in ferry ? ferry : {}, migration);
  const ledgerBehind = endedInTemporal === null && (await isBehind(ferry, migration));
  // A workflow that has ended abnormally does not finish the companies in progress. `ending` is then null, even if a
  // decision has ended the migration.
  const ending = migration.ending ?? (endedInTemporal ? null : await decidedEnding(db, migration));
  const applications = await readApplicationsOfMoved(db, migrationId);
  const counts = await countCompanies(db, migrationId);
  const steps = [await readRecordedDecisions(db, migrationId)];
  return {
    head: {
      ...{ migrationId, route, client, platformKey, contact, ending, endedInTemporal, paused, suppliedBy, planned },
      ledgerBehind,
      isFinishing: ending !== null && (migration.ending === null || counts.importing + counts.syncing > 0),
      suppliedAt: migration.suppliedAt.toISOString(),
      closedAt: migration.closedAt?.toISOString() ?? null,
      vaultDestroyedAt: migration.vaultDestroyedAt?.toISOString() ?? null,
      counts,
      figures: await readFigures(db, migrationId),
      decisions: await readDecisions(db, migrationId),
      changedSinceSignOff: await readChangedSinceSignOff(db, { migrationId, steps }),
      stoppages: withEndInTemporal(await readStoppages(db, migrationId), endedInTemporal).map(
        ({ why: _forSupport, ...each }) => each,
      ),
      applications,
      unproven: await differencesFromSigned(db, migrationId, migration.rules?.approvers ?? null),
    },
    companies: (states) => readReportedCompanies(db, migrationId, states),
    replaced: () => readReplaced(db, migrationId, applications),
    statistics: () => readStatistics(db, migrationId),
  };
}

/**
 * Returns whether the ledger is known to be behind the workflow. Does not ask the workflow of a migration whose end is
 * in the ledger. If the workflow cannot be asked, only the flag in the ledger counts.
 */
async function isBehind(ferry: Parameters<typeof readReport>[0], { id, ending }: StoredMigration): Promise<boolean> {
  if (ending !== null) return false;
  return 'temporal' in ferry
    ? isLedgerProvenBehind(ferry, id).catch(() => false)
    : (await readLedgerStatus(ferry.db, id)).isProvenBehind;
}

async function* readReportedCompanies(
  db: LedgerClient['db'],
  migrationId: string,
  states: readonly CompanyState[] | undefined,
): AsyncGenerator<ReportedLedgerCompany> {
  for await (const company of readCompanies(db, migrationId, states === undefined ? {} : { states })) {
    const { heldBackDetails: _forSupport, ...reported } = company;
    yield reported;
  }
}

/**
 * Returns the ending of a migration that a decision has ended early, but that is not closed yet, because companies in
 * progress are still being finished. No other company is moved any more. Null if no decision has ended it early, or if
 * both sides have signed off.
 */
async function decidedEnding(db: LedgerClient['db'], { id, route }: StoredMigration): Promise<Ending | null> {
  const ending = endingByDecisions(route, await readRecordedDecisions(db, id));
  return ending === 'completed' ? null : ending;
}

async function readReplaced(
  db: LedgerClient['db'],
  migrationId: string,
  { replaced }: ApplicationsOfMoved,
): Promise<ReadonlyMap<string, MovedWithApplication>> {
  const found = new Map<string, MovedWithApplication>();
  if (replaced.length === 0) return found;
  for (const [reference, application] of await readApplicationsByCompany(db, migrationId)) {
    const group = replaced.find((each) => isSameApplication(each.application, application));
    if (group) found.set(reference, group);
  }
  return found;
}

/** Returns how the ledger differs from the signed decisions; null if the migration was started without approvers. */
async function differencesFromSigned(
  db: LedgerClient['db'],
  migrationId: string,
  approvers: readonly Approver[] | null,
): Promise<readonly string[] | null> {
  if (!approvers) return null;
  const summary = await readLedgerSummary(db, migrationId);
  const proof = createLedgerProof();
  const verifier = createTrailVerifier(migrationId, approvers);
  for await (const record of readTrail(db, migrationId)) {
    const { decision, outcome } = record;
    const { proof: proven } = verifier.verify({ ...record, applied: outcome.applied, at: outcome.at });
    if (proven === 'signed') proof.add(decision, outcome);
  }
  return summary ? proof.differences(summary) : [];
}
