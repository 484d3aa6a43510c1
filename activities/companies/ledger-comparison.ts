/**
 * Detects a ledger that was restored to an older state, by comparing it with the service.
 *
 * Every company that an import creates carries the tag of its row, and the claim raises the row's number of tries
 * before the import begins. So if the service has a company for a row without a try, the ledger has lost that claim.
 */
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { CompanyDataError, type CompanyDataClient } from '../../company-data-client';
import { checkLedgerMark, flagLedger, readUntriedRows, type Database, type LeaseOwner } from '../../store';
import type { ActivityDeps } from '../deps';
import { companiesOfMigration } from './service-refs';

/** The number of rows that one SQL statement compares. */
const ROWS_AT_ONCE = 5_000;

/**
 * Lists the rows for which the service has a company although the ledger contains no try.
 *
 * @throws {CompanyDataError} if the service does not list its companies
 */
export async function findLostTries(
  db: Database,
  service: CompanyDataClient,
  migrationId: string,
): Promise<readonly number[]> {
  const lost: number[] = [];
  let rows: number[] = [];
  const compare = async (): Promise<void> => {
    if (rows.length > 0) lost.push(...(await readUntriedRows(db, migrationId, rows)));
    rows = [];
  };
  // The service is read before the ledger, because a current ledger then contains the try of every company that the
  // service has listed.
  for await (const { row } of companiesOfMigration(service, migrationId, { signal: cancellationSignal() })) {
    rows.push(row);
    if (rows.length === ROWS_AT_ONCE) await compare();
  }
  await compare();
  return lost;
}

/**
 * States how far a slice can rely on the ledger.
 *
 * - `behind`: the mark or the service has shown that the ledger was restored to an older state.
 * - `reconciling`: `ferry reconcile` is repairing the ledger, so no company can be claimed. It is not known whether the
 *   ledger is behind.
 * - `unknown`: the service did not list its companies, so each company is looked up by its tag before it is created.
 */
export interface LedgerTrust {
  readonly ledger: 'current' | 'behind' | 'reconciling' | 'unknown';
  /** The ledger's mark. Lower than the workflow's mark if the ledger is behind the workflow. */
  readonly mark: number;
  /** The only run that can claim companies; null before the first run. */
  readonly currentRun: string | null;
}

/**
 * Decides whether a slice can rely on the ledger. A ledger that is behind is flagged.
 *
 * Comparing the marks is enough if the workflow has seen a mark, the slice has already run in this batch run, and the
 * activity is not being retried. Otherwise, claims of an attempt that died might be unknown to the workflow. The ledger
 * is then also compared with the service, with one request per 5,000 companies.
 *
 * @param workflowMark the highest mark that the workflow has seen; 0 if it has seen none
 */
export async function assessLedger(
  { db, service }: Pick<ActivityDeps, 'db' | 'service'>,
  { migrationId, attempt }: LeaseOwner,
  workflowMark: number,
): Promise<LedgerTrust> {
  const status = await checkLedgerMark(db, migrationId, workflowMark);
  const { behindSince, isProvenBehind, mark, currentRun } = status;
  const known = { mark, currentRun };
  if (behindSince !== null) return { ledger: isProvenBehind ? 'behind' : 'reconciling', ...known };
  if (workflowMark > 0 && attempt > 1 && activityInfo().attempt === 1) return { ledger: 'current', ...known };
  try {
    if ((await findLostTries(db, service, migrationId)).length === 0) return { ledger: 'current', ...known };
  } catch (error) {
    if (error instanceof CompanyDataError) return { ledger: 'unknown', ...known };
    throw error;
  }
  await flagLedger(db, migrationId);
  return { ledger: 'behind', ...known };
}
