import type { Step } from '../domain/steps';
import type { Desk } from './desk';
import type { Handover } from './hand-over';
import { remainingCompaniesMigrated } from './steps/complete-migration';
import { settled } from './steps/settled';
import { firstCompanyProven } from './steps/migrate-first-company';
import { timeAgreed } from './steps/schedule';
import { detailsSupplied } from './steps/supply-details';
import type { MigrationInput } from './whole-migration';
import { wholeMigration } from './whole-migration';

/** What each step does until it has ended, or until a decision turned the migration to another step. */
const COURSE: Readonly<Record<Step, (desk: Desk) => Promise<void>>> = {
  'supply-details': detailsSupplied,
  schedule: timeAgreed,
  'update-application': (desk) => settled(desk, 'update-application'),
  'disable-syncing': (desk) => settled(desk, 'disable-syncing'),
  'migrate-first-company': firstCompanyProven,
  'complete-migration': remainingCompaniesMigrated,
};

/** One client's move to the Company Data Service, from the supplied details to the signed handover. */
export async function managedMigration(input: MigrationInput): Promise<Handover> {
  return wholeMigration(input, (desk) => COURSE[desk.state().step](desk));
}
