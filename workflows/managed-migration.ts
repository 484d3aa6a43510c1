import type { Step } from '../domain/migration/steps';
import type { MigrationResult } from './migration/closing';
import { mayEndStep } from './migration/conditions';
import type { MigrationContext } from './migration/context';
import { runMigration, type MigrationInput } from './migration/lifecycle';
import { completeMigration } from './migration/steps/complete-migration';
import { migrateFirstCompany } from './migration/steps/migrate-first-company';
import { scheduleMigration } from './migration/steps/schedule';
import { supplyDetails } from './migration/steps/supply-details';

/**
 * The six steps, in order. `isStepComplete` in `domain/decisions/step-transitions.ts` checks their end conditions.
 *
 * Each function returns at the latest when its step has ended, when a decision has moved the migration to another step
 * or closed it, or when the migration should continue as new. Until the migration is closed, `runMigration` then calls
 * the function of the current step, which can be the same function again.
 */
const STEPS: Readonly<Record<Step, (migration: MigrationContext) => Promise<void>>> = {
  // 1. Ends when the preflight has found no errors and support has accepted the details.
  'supply-details': supplyDetails,
  // 2. Ends when client and support have approved the same proposal of a start and windows.
  schedule: scheduleMigration,
  // 3. Ends when both have approved: the client added the callback URL to its application, and support verified it.
  'update-application': updateApplication,
  // 4. Ends when the client has confirmed that syncing is off for every company of the first wave that is neither
  // excluded nor held back.
  'disable-syncing': disableSyncing,
  // 5. Ends when one company has been moved and verified, and support has approved the evidence.
  'migrate-first-company': migrateFirstCompany,
  // 6. Ends when no company is open and both client and support have signed off.
  'complete-migration': completeMigration,
};

/**
 * Moves one client's companies on one platform to the Company Data Service, from the supplied details to the signed
 * handover.
 */
export function managedMigration(input: MigrationInput): Promise<MigrationResult> {
  return runMigration(input, (migration) => STEPS[migration.state().step](migration));
}

function updateApplication(migration: MigrationContext): Promise<void> {
  return awaitDecisions(migration, 'update-application');
}

function disableSyncing(migration: MigrationContext): Promise<void> {
  return awaitDecisions(migration, 'disable-syncing');
}

/** Waits for the decisions that end a step in which the migration itself does nothing. */
async function awaitDecisions(migration: MigrationContext, step: Step): Promise<void> {
  // The ledger counts the confirmed companies, so a decision must reach the ledger before it can end the step.
  if (await migration.awaitInStep((state) => mayEndStep(state, step))) migration.endStep(step);
}
