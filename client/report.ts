import type { CompanyState } from '../domain/companies/company-state';
import type { ReportHead } from '../presentation/handover/report-facts';
import type { MigrationStatistics } from '../store';
import { countCompanies, readCompanies, readStatistics, readDecisions, readFigures, readMigration } from '../store';
import type { LedgerCompany } from '../store';
import { NoSuchMigration } from './no-such-migration';
import type { LedgerClient } from './open';

/** The handover report: everything about a migration, its companies to be read one after the other. */
export interface HandoverReport {
  readonly head: ReportHead;
  /** In the manifest's order; only those in these states, where there are any. */
  readonly companies: (states?: readonly CompanyState[]) => AsyncIterable<LedgerCompany>;
  /** How it went, for charts. */
  readonly course: () => Promise<MigrationStatistics>;
}

/**
 * The report as of now: from the ledger and the audit trail, so that it can be had at any time, also long after Temporal
 * has forgotten the workflow.
 *
 * @throws NoSuchMigration
 */
export async function readReport({ db }: Pick<LedgerClient, 'db'>, migrationId: string): Promise<HandoverReport> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const { route, client, platformKey, contact, ending, paused, suppliedBy, planned } = migration;
  return {
    head: {
      ...{ migrationId, route, client, platformKey, contact, ending, paused, suppliedBy, planned },
      suppliedAt: migration.suppliedAt.toISOString(),
      closedAt: migration.closedAt?.toISOString() ?? null,
      vaultDestroyedAt: migration.vaultDestroyedAt?.toISOString() ?? null,
      counts: await countCompanies(db, migrationId),
      figures: await readFigures(db, migrationId),
      decisions: await readDecisions(db, migrationId),
    },
    companies: (states) => readCompanies(db, migrationId, states === undefined ? {} : { states }),
    course: () => readStatistics(db, migrationId),
  };
}
