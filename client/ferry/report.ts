import type { Counts } from '../../domain/company-state';
import { countCompanies, readCompanies, readDecisions, readMigration } from '../../store';
import type { AuditEntry, LedgerCompany, StoredMigration } from '../../store';
import { NoSuchMigration } from './no-such-migration';
import type { Ferry } from './open-ferry';

/** The handover report: everything about a migration, its companies to be read one after the other. */
export interface HandoverReport {
  readonly migration: StoredMigration;
  readonly counts: Counts;
  readonly decisions: readonly AuditEntry[];
  /** In the manifest's order. May be read once. */
  readonly companies: AsyncIterable<LedgerCompany>;
}

/**
 * The report as of now: from the ledger and the audit trail, so that it can be had at any time, also long after Temporal
 * has forgotten the workflow.
 *
 * @throws NoSuchMigration
 */
export async function readReport({ db }: Ferry, migrationId: string): Promise<HandoverReport> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  return {
    migration,
    counts: await countCompanies(db, migrationId),
    decisions: await readDecisions(db, migrationId),
    companies: readCompanies(db, migrationId),
  };
}
