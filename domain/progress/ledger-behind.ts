/** Says that a ledger was restored to an older state, and what to do. No company moves before it is reconciled. */

/** Returns the task of support as a clause that ends with a command. */
export const ledgerBehindTask = (migrationId: string): string =>
  `the ledger is out of date, so no company can move; to repair it, run: ferry reconcile ${migrationId}`;

/** The last part of a sentence about a migration whose ledger is out of date. */
export const NONE_BEFORE_RECONCILED = 'no company can move before the ledger is reconciled';
