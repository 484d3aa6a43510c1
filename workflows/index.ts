/**
 * The workflows, which the worker bundles for Temporal's sandbox.
 *
 * Start with `managed-migration.ts`, which lists the six steps. Every migration runs through `migration/lifecycle.ts`.
 * Batch runs (`batch-run.ts`) move the companies by calling activities. A workflow never sees a credential. It knows
 * only the first company, the companies that a decision names, and a few references and links that its pages show. The
 * other companies are only in the ledger, and activities return counts.
 */
export { batchRun } from './batch-run';
export { closeTerminated } from './close-terminated';
export { openWindow } from './open-window';
export { managedMigration } from './managed-migration';
export { selfServiceMigration } from './self-service-migration';
export { reconcileLedger } from './reconcile';
export { sweep } from './sweep';
