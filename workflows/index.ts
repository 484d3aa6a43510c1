/** The workflows of the one task queue: what the worker bundles. */
export { batchRun } from './batch-run';
export { closeTerminated } from './close-terminated';
export { openWindow } from './open-window';
export { managedMigration } from './managed-migration';
export { selfServiceMigration } from './self-service-migration';
export { sweep } from './sweep';
