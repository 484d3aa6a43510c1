/**
 * Detects a ledger that was restored to an older state, by comparing it with the service.
 *
 * Every company that an import creates carries the tag of its row, and the claim counts a try before the import begins.
 * So if the service has a company for a row without a try, the ledger has lost that claim.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { CompanyDataClient } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';
import type { Database } from '../../store';
import { readUntriedRows } from '../../store';
import { companiesOfMigration } from './service-refs';

/** The number of rows that are compared with one statement. */
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
  // The service is read first: a company that it lists was claimed before, so a current ledger contains its try.
  for await (const { row } of companiesOfMigration(service, migrationId, { signal: cancellationSignal() })) {
    rows.push(row);
    if (rows.length === ROWS_AT_ONCE) await compare();
  }
  await compare();
  return lost;
}

/**
 * Returns whether the ledger contains a try of every company that the service has for this migration. Returns false if
 * the service does not answer, so that each company is then looked up by its tag.
 */
export async function isLedgerCurrent(db: Database, service: CompanyDataClient, migrationId: string): Promise<boolean> {
  try {
    return (await findLostTries(db, service, migrationId)).length === 0;
  } catch (error) {
    if (error instanceof CompanyDataError) return false;
    throw error;
  }
}
