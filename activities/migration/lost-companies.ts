/** Finds the repairs of rows whose companies a restored service no longer has. `ferry reconcile` carries them out. */
import type { CompanyDataClient } from '../../company-data-client';
import type { RecordedCompany, Repair } from '../../store';
import { COMPANY_GONE, isCompanyGone } from '../companies/service-refs';

/**
 * The repair of a lost company. `gone`: the company needs a new credential. `toCreate`: its credential was never sent,
 * so the next import creates the company again.
 */
export interface LostCompany {
  readonly kind: 'gone' | 'toCreate';
  readonly change: Omit<Repair, 'row' | 'from'>;
}

const GONE = {
  to: 'failed',
  failure: 'credential-unreadable',
  text: `${COMPANY_GONE}; supply a new credential`,
  isGone: true,
  crossed: true,
} as const;

/**
 * Returns the repair of a company that the service does not list for the migration. Asks the service for the company by
 * its id, because people can change tags.
 *
 * @returns undefined if there is nothing to repair: the service has the company, the ledger has no id for it, the
 *   client supplied its id, an attempt is importing it, or it was left out
 */
export async function findLostCompany(
  service: CompanyDataClient,
  company: RecordedCompany,
  signal: AbortSignal,
): Promise<LostCompany | undefined> {
  const { state, companyId, existedBefore, isLeased, isSent, failure, failureText } = company;
  // A company whose id the client supplied is not created again. An attempt that is still alive detects the loss
  // itself.
  if (companyId === null || existedBefore || isLeased || state === 'skipped' || state === 'excluded') return undefined;
  if (!(await isCompanyGone(service, companyId, { signal }))) return undefined;
  if (isSent || state === 'syncing' || state === 'moved') return { kind: 'gone', change: GONE };
  if (state !== 'failed') return { kind: 'toCreate', change: { to: 'waiting', isGone: true } };
  // A failed company keeps its failure until it is tried again.
  const why = { ...(failure !== null && { failure }), ...(failureText !== null && { text: failureText }) };
  return { kind: 'toCreate', change: { to: 'failed', ...why, isGone: true } };
}
