/**
 * Finds the credentials of a file that a worker would not accept, before they are sent. The page and `ferry --portal`
 * use it. The worker decides again, because companies can change meanwhile.
 */
import { isObtainedTooEarly } from '../../domain/companies/credential-state';
import type { CompanyState as LedgerState } from '../../domain/companies/company-state';
import {
  NO_SUCH_COMPANY,
  NOT_CONFIRMED,
  TOO_EARLY,
  wrongStateText,
} from '../../presentation/wording/credential-refusals';
import type { Company, CompanyState } from './api';
import type { Refused } from './refused';

/** A credential in the file, before it is sealed. */
interface OfferedCredential {
  readonly reference: string;
  /** ISO 8601. */
  readonly obtainedAt: string;
}

interface Rules {
  /** True if only credentials that were obtained after the confirmation count. */
  readonly isRotating: boolean;
  /** True for new credentials of companies that were not moved. */
  readonly replaces: boolean;
}

/** Reads all companies, by reference. */
export async function readByReference(companies: AsyncIterable<Company>): Promise<ReadonlyMap<string, Company>> {
  const known = new Map<string, Company>();
  for await (const company of companies) known.set(company.reference, company);
  return known;
}

/** Returns the credentials that would be refused, with the reasons; those of unknown companies come first. */
export function refusedCredentials(
  credentials: readonly OfferedCredential[],
  known: ReadonlyMap<string, Company>,
  rules: Rules,
): Refused {
  const unknown: Refused[number][] = [];
  const others: Refused[number][] = [];
  for (const { reference, obtainedAt } of credentials) {
    const company = known.get(reference);
    const why = company && refusal(company, new Date(obtainedAt), rules);
    if (company === undefined) unknown.push({ reference, why: NO_SUCH_COMPANY });
    else if (why != null) others.push({ reference, why });
  }
  return [...unknown, ...others];
}

/** A ledger state for each client's word. */
const LEDGER_STATES: Readonly<Record<CompanyState, LedgerState>> = {
  moved: 'moved',
  moving: 'importing',
  'left-out': 'excluded',
  'must-reconnect': 'failed',
  'not-moved': 'failed',
  'not-moved-yet': 'waiting',
};

function refusal({ state, remedies, confirmedAt }: Company, obtainedAt: Date, rules: Rules): string | null {
  // A company with an unknown outcome is not moved yet either, but its credential can only be replaced.
  const isTried = state === 'must-reconnect' || state === 'not-moved' || remedies.includes('replace-credential');
  const accepts = rules.replaces ? isTried : state === 'not-moved-yet' && !isTried;
  if (!accepts) return wrongStateText(isTried ? 'failed' : LEDGER_STATES[state], rules.replaces);
  const confirmed = confirmedAt === null ? null : new Date(confirmedAt);
  if (!rules.isRotating || !isObtainedTooEarly(obtainedAt, confirmed)) return null;
  return confirmed === null ? NOT_CONFIRMED : TOO_EARLY;
}
