/** Findings: problems with the supplied details, found when files are read and by the preflight. */

/** The kind of a finding. New codes can be added, but none ever changes, because they appear in JSON output. */
export type FindingCode =
  // In a file of companies or credentials:
  | 'file-unreadable'
  | 'file-too-large'
  | 'not-text'
  | 'sealed-file'
  | 'not-utf8'
  | 'wrong-encoding'
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
  | 'application-not-registered'
  | 'application-not-shown'
  | 'application-environment'
  | 'application-of-another-migration'
  | 'application-differs'
  | 'application-in-use'
  | 'organization-connected'
  | 'organization-was-connected'
  | 'organization-open-elsewhere';

/** A problem in the supplied details: its location, a message and advice. It never contains a credential. */
export interface Finding {
  readonly code: FindingCode;
  /** An error prevents the start of the migration, or the company's move. A warning is for a person to judge. */
  readonly severity: 'error' | 'warning';
  /** Absent if the finding is not about a file or one of its rows, for example if it is about the account. */
  readonly file?: string;
  /** Line of the file, from 1. */
  readonly line?: number;
  /** From 1. In CSV, the number of the cell in its row. In JSON, the number of the character on its line. */
  readonly column?: number;
  readonly field?: string;
  readonly message: string;
  readonly advice: string;
}

/** Returns whether a finding is about the client's application. */
export const isOfApplication = (code: FindingCode): boolean => code.startsWith('application-');
