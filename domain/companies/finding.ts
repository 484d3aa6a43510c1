/** Findings: problems that a check of the supplied details reports, in files and by the preflight. */

/** The kind of a finding. Codes appear in JSON output: they are added, but never changed. */
export type FindingCode =
  // In a file of companies or credentials:
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
  // About the account, the platform, or other migrations:
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

/** A problem in the supplied details: its place, a message and what to do. It never contains a credential. */
export interface Finding {
  readonly code: FindingCode;
  /** An error prevents the migration, or the company, from starting. A person judges a warning. */
  readonly severity: 'error' | 'warning';
  /** Absent for findings about the account or other migrations. */
  readonly file?: string;
  /** Line of the file, from 1. */
  readonly line?: number;
  /** From 1. In CSV the cell of the row, as spreadsheets count columns; in JSON the character of the line. */
  readonly column?: number;
  readonly field?: string;
  readonly message: string;
  readonly advice: string;
}
