/**
 * Checks the credentials of a file before they are sent: finds those that a worker would not accept. The page and
 * `ferry --portal` use this check. The worker decides again, because companies can change meanwhile.
 */
import { isObtainedTooEarly, SUPPLY_MESSAGES, type SupplyMessage } from '../../domain/companies/credential-state';
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
  /** True for `replaceCredential`, which supplies new credentials for companies that were tried. */
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

/** A ledger state for each state that the client sees, to explain why a company does not accept a credential. */
const LEDGER_STATES: Readonly<Record<CompanyState, LedgerState>> = {
  moved: 'moved',
  moving: 'importing',
  'left-out': 'excluded',
  'must-reconnect': 'failed',
  'not-moved': 'failed',
  'not-moved-yet': 'waiting',
};

function refusal(company: Company, obtainedAt: Date, rules: Rules): string | null {
  const accepts = company.accepts ?? probablyAccepts(company.state);
  if (!accepts.includes(rules.replaces ? 'replaceCredential' : 'credentialsSupplied'))
    // A company that accepts only `replaceCredential` was tried, so it gets the text for `failed`, even if its state is
    // `not-moved-yet` because its outcome is unknown.
    return wrongStateText(
      accepts.includes('replaceCredential') ? 'failed' : LEDGER_STATES[company.state],
      rules.replaces,
    );
  const confirmed = company.confirmedAt === null ? null : new Date(company.confirmedAt);
  if (!rules.isRotating || !isObtainedTooEarly(obtainedAt, confirmed)) return null;
  return confirmed === null ? NOT_CONFIRMED : TOO_EARLY;
}

/**
 * Returns the messages that a company might accept, for the row of an older portal, which does not contain `accepts`.
 * The worker refuses a credential that the company does not accept.
 */
function probablyAccepts(state: CompanyState): readonly SupplyMessage[] {
  if (state === 'not-moved-yet') return SUPPLY_MESSAGES;
  return state === 'must-reconnect' || state === 'not-moved' ? ['replaceCredential'] : [];
}
