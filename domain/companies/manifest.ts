/** What a client supplies about its companies, and what a spreadsheet may have done to it. */

/** What the service has of a company already, by the service's own ids. */
export interface Named {
  readonly companyId: string;
  /** Null: any connection of the company to the platform that is not taken, or a new one. */
  readonly connectionId: string | null;
}

/** One company that is to be moved. Credentials are not part of it: they come and go while the row stays. */
export interface ManifestRow {
  /** Position in the manifest, from 1. The key of the company everywhere in its migration. */
  readonly row: number;
  /** The client's own id of the company, unique in the manifest. */
  readonly reference: string;
  readonly name: string;
  /** The company's organization at the platform: what the platform's `organizationField` holds. */
  readonly organization: string;
  /** How many invoices the client counts at the platform; `null` where it does not say. */
  readonly expectedInvoices: number | null;
  /** Companies of a lower wave are moved first; `null` where the client does not mind. */
  readonly wave: number | null;
  /** Rows of one family are moved one after the other, because their tokens end one another; `null` stands alone. */
  readonly family: string | null;
  /** Absent or null: the company is created. In the self-service route alone. */
  readonly named?: Named | null;
}

/** What may be wrong with what a client supplied. A name is an interface: never changed, only added. */
export type FindingCode =
  // With a file of companies or credentials:
  | 'file-unreadable'
  | 'file-too-large'
  | 'not-text'
  | 'empty'
  | 'no-companies'
  | 'no-header'
  | 'syntax'
  | 'unclosed-quote'
  | 'missing-column'
  | 'duplicate-column'
  | 'unknown-column'
  | 'ragged-row'
  | 'missing-value'
  | 'undecodable'
  | 'control-character'
  | 'too-long'
  | 'spreadsheet-damage'
  | 'rounded-numbers'
  | 'invalid-number'
  | 'invalid-time'
  | 'invalid-credential'
  | 'name-altered'
  | 'name-empty'
  | 'duplicate-reference'
  | 'duplicate-organization'
  | 'duplicate-refresh-token'
  | 'duplicate-name'
  | 'invalid-id'
  | 'duplicate-company-id'
  | 'no-expected-invoices'
  | 'no-family'
  | 'credential-missing'
  | 'credential-early'
  | 'credential-of-unknown-reference'
  | 'credential-of-other-organization'
  | 'unusual-organization'
  | 'token-families'
  // With the account, the platform, or other migrations:
  | 'no-managed-route'
  | 'no-self-service-route'
  | 'service-refuses'
  | 'not-asked'
  | 'migration-exists'
  | 'key-not-administrator'
  | 'no-room'
  | 'account-expires'
  | 'account-on-trial'
  | 'platform-disabled'
  | 'application-missing'
  | 'application-not-shown'
  | 'application-environment'
  | 'organization-connected'
  | 'organization-was-connected'
  | 'organization-open-elsewhere';

/** Something that is wrong, or may be, with what was supplied: where, what, and what to do. Never holds a credential. */
export interface Finding {
  readonly code: FindingCode;
  /** An error keeps a migration from starting; a warning is for a person to judge. */
  readonly severity: 'error' | 'warning';
  /** Absent: it is about the account, or about other migrations. */
  readonly file?: string;
  /** Line of the file, from 1. */
  readonly line?: number;
  /** From 1: in CSV the cell of the row, as a spreadsheet counts columns; in JSON the character of the line. */
  readonly column?: number;
  readonly field?: string;
  readonly message: string;
  readonly advice: string;
}

/**
 * The company's name as the service will store it.
 *
 * The service drops every character outside `A-Za-z0-9 -',&@.,?!`. Nothing left means that it refuses the company.
 */
export function storedName(name: string): string {
  return name.replace(/[^A-Za-z0-9 \-',&@.?!]/g, '').trim();
}

/** How a spreadsheet program spoils a cell that it takes for a number or a formula. */
export type SpreadsheetDamage = 'scientific-notation' | 'formula-error' | 'column-too-narrow';

/** What a spreadsheet did to a cell, if it shows: `9.13E+15`, `1,23E+12`, `#REF!`, `#N/A`, `####`. Lost leading zeros do not show. */
export function spreadsheetDamage(text: string): SpreadsheetDamage | null {
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]\d+$/i.test(text)) return 'scientific-notation';
  if (/^#+$/.test(text)) return 'column-too-narrow';
  // Every language of Excel has its own words (#REF!, #BEZUG!, #¡REF!), but all end so.
  if (/^#[\p{Lu}\d¡¿/]+[!?]$/u.test(text) || text === '#N/A' || text === '#NV') return 'formula-error';
  return null;
}

/**
 * Whether numbers look as if a spreadsheet had rounded all of them.
 *
 * Excel and its kin keep 15 digits of a number and write zeros for the rest, so that an id of 16 digits survives as the
 * id of somebody else. One id may end in zero by chance; three or more, without an exception, do not.
 */
export class Rounding {
  #rounded = 0;
  #exact = 0;

  see(number: string): void {
    if (/^\d{15}0+$/.test(number)) this.#rounded += 1;
    else if (/^\d{16,}$/.test(number)) this.#exact += 1;
  }

  get isLikely(): boolean {
    return this.#exact === 0 && this.#rounded >= 3;
  }
}
