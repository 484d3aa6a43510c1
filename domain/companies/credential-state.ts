/** Determines whether a waiting company has a usable credential. */
import { namedCompanies } from '../text/sentences';
import type { CompanyState } from './company-state';
import type { Counts } from './counts';

/**
 * The credential of a waiting company. `too-early`: obtained before the client confirmed that syncing is off, so the
 * client's own application might have refreshed the token since.
 */
export type CredentialState = 'supplied' | 'missing' | 'too-early';

/** The facts about a company that decide whether it can be moved. */
export interface WaitingCompany {
  /** Null if the company is not waiting, or if the migration has ended. */
  readonly credential: CredentialState | null;
  readonly confirmedAt: Date | null;
  /** Why the company is held back, without the names of other clients; null if it is not. */
  readonly heldBack: string | null;
}

/**
 * Returns why a company has no usable credential. Null if it has one, is not waiting or is held back, if the client has
 * not confirmed that syncing is off, or if the migration has ended.
 */
export function missingCredentialText({ credential, confirmedAt, heldBack }: WaitingCompany): string | null {
  if (confirmedAt === null || heldBack !== null || credential === null || credential === 'supplied') return null;
  return credential === 'missing'
    ? 'no credential supplied'
    : 'the credential was obtained before the client confirmed that syncing is off';
}

/** Returns why a company is held back, with the names of other clients, for support only; null if it is not. */
export function heldBackForSupport({
  heldBack,
  heldBackDetails,
}: Pick<WaitingCompany, 'heldBack'> & { readonly heldBackDetails: string | null }): string | null {
  return heldBack === null ? null : (heldBackDetails ?? heldBack);
}

/** Returns why a waiting company cannot be moved yet; null if it can. */
export function notReadyText(company: WaitingCompany): string | null {
  if (company.heldBack !== null) return company.heldBack;
  return company.confirmedAt === null
    ? 'the client has not confirmed that syncing is off'
    : missingCredentialText(company);
}

/**
 * Returns why the company requested as first company cannot go first; null if it can. A company that was not moved is
 * tried again, and one that has moved is checked again.
 */
export function firstNotReadyText(company: WaitingCompany & { readonly state: CompanyState }): string | null {
  switch (company.state) {
    case 'waiting':
    case 'failed':
    case 'outcome-unknown':
      return notReadyText(company);
    case 'importing':
    case 'syncing':
    case 'moved':
      return null;
    case 'excluded':
    case 'skipped':
      return 'it was left out';
  }
}

/** Returns the same text as {@link firstNotReadyText}, with the names of other clients, for support only. */
export function firstNotReadyForSupport(
  company: Parameters<typeof firstNotReadyText>[0] & Parameters<typeof heldBackForSupport>[0],
): string | null {
  return firstNotReadyText({ ...company, heldBack: heldBackForSupport(company) });
}

/**
 * The decision messages that supply a credential: `credentialsSupplied` for companies that wait to be moved,
 * `replaceCredential` for companies that were tried.
 */
export const SUPPLY_MESSAGES = ['credentialsSupplied', 'replaceCredential'] as const;
export type SupplyMessage = (typeof SUPPLY_MESSAGES)[number];

interface SuppliedCompany extends Pick<WaitingCompany, 'heldBack'> {
  readonly state: CompanyState;
  /** Number of times that its import was tried. */
  readonly tries: number;
}

/**
 * Returns the decisions whose credential the ledger accepts for a company. Before step 6, a migration can refuse
 * `replaceCredential` as a whole; `credentialsSupplied` then replaces the credential of a waiting company.
 */
export function acceptedSupplies({ state, heldBack, tries }: SuppliedCompany): readonly SupplyMessage[] {
  switch (state) {
    case 'waiting':
      return tries > 0 && heldBack === null ? SUPPLY_MESSAGES : ['credentialsSupplied'];
    case 'failed':
    case 'outcome-unknown':
      return ['replaceCredential'];
    case 'importing':
    case 'syncing':
    case 'moved':
    case 'skipped':
    case 'excluded':
      return [];
  }
}

const REFERENCES_SHOWN = 3;

/** Returns how many companies have no usable credential: `4 companies (C-1, C-2, C-3 and 1 more)`. */
export function withoutCredentialText({ withoutCredential, firstWithoutCredential }: Counts): string {
  return namedCompanies(withoutCredential, (firstWithoutCredential ?? []).slice(0, REFERENCES_SHOWN));
}

/**
 * Returns whether a credential does not count on a platform that rotates refresh tokens, because the client's
 * application might have used the credential since.
 *
 * @param confirmedAt when the client confirmed that syncing is off for the company; null if it has not
 */
export function isObtainedTooEarly(obtainedAt: Date, confirmedAt: Date | null): boolean {
  return confirmedAt === null || obtainedAt < confirmedAt;
}
