/** The advice about workers, for views and commands. Each text can be followed by "; then ...". */

/** How to find out why no worker answers. `ferry doctor` knows whether the stack has to be restarted. */
export const SEE_WHAT_IS_WRONG = 'to see what is wrong, run: ferry doctor';

/** The advice if no worker answers. */
export const START_WORKER = `make sure that a worker is running; ${SEE_WHAT_IS_WRONG}`;

/** The advice if no worker polls for workflow tasks, or no worker polls for activity tasks. */
export const RESTART_WORKER = 'to see what to restart, run: ferry doctor';

/** Begins the reason if a worker runs, but cannot continue a workflow. */
export const CANNOT_CONTINUE = 'the worker cannot continue';

/** The advice if a worker runs, but cannot continue a migration. */
export const CHECK_WORKERS =
  'check the keys and the version of every worker, as docs/runbook.md describes under "Something is down"';
