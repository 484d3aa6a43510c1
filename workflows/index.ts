/**
 * The workflows of the one task queue: what the worker bundles for Temporal's sandbox.
 *
 * `managed-migration.ts` is the place to start: it names the six steps. Every migration runs through
 * `migration/lifecycle.ts`; companies are moved by batch runs (`batch-run.ts`), which call activities.
 * Workflows know no company and no credential: these are in the ledger, and only counts come back.
 */
export { batchRun } from './batch-run';
export { closeTerminated } from './close-terminated';
export { openWindow } from './open-window';
export { managedMigration } from './managed-migration';
export { selfServiceMigration } from './self-service-migration';
export { sweep } from './sweep';
