import type { Step } from '../domain/migration/steps';
import type { MigrationContext } from './migration/context';
import type { Handover } from './migration/hand-over';
import { remainingCompaniesMigrated } from './migration/steps/complete-migration';
import { awaitApprovals } from './migration/steps/await-approvals';
import { firstCompanyProven } from './migration/steps/migrate-first-company';
import { timeAgreed } from './migration/steps/schedule';
import { detailsSupplied } from './migration/steps/supply-details';
import type { MigrationInput } from './migration/lifecycle';
import { runMigration } from './migration/lifecycle';

/** What each step does until it has ended, or until a decision turned the migration to another step. */
const COURSE: Readonly<Record<Step, (desk: MigrationContext) => Promise<void>>> = {
  'supply-details': detailsSupplied,
  schedule: timeAgreed,
  'update-application': (desk) => awaitApprovals(desk, 'update-application'),
  'disable-syncing': (desk) => awaitApprovals(desk, 'disable-syncing'),
  'migrate-first-company': firstCompanyProven,
  'complete-migration': remainingCompaniesMigrated,
};

/** One client's move to the Company Data Service, from the supplied details to the signed handover. */
export async function managedMigration(input: MigrationInput): Promise<Handover> {
  return runMigration(input, (desk) => COURSE[desk.state().step](desk));
}
