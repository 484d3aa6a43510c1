/** What shows in the companies themselves, without asking anybody. */
import type { ManifestRow } from '../companies/manifest';
import { spreadsheetDamage, storedName } from '../companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { PreflightFinding } from './preflight-finding';
import { about, error, quoted, warning } from './preflight-finding';
import { counted } from '../text/sentences';

/** What is wrong with a company; who reads it from a file finds more, with its place. */
export function companyFindings(row: ManifestRow, platform: Platform): readonly PreflightFinding[] {
  const findings: PreflightFinding[] = [];
  const { name, organization } = row;
  const stored = storedName(name);
  if (stored === '') {
    const message = `the service keeps no character of the name ${quoted(name)}`;
    findings.push(about(row, 'name', error('name-empty', message, 'correct it with: ferry amend')));
  } else if (stored !== name) {
    const message = `the name ${quoted(name)} will be stored as ${quoted(stored)}`;
    findings.push(about(row, 'name', warning('name-altered', message, 'correct it if it should not be so')));
  }
  const field = platform.organizationField;
  if (organization.trim() === '' || spreadsheetDamage(organization) !== null) {
    const message = `${quoted(organization)} is no ${field}`;
    findings.push(about(row, field, error('spreadsheet-damage', message, 'correct it with: ferry amend')));
  } else if (isUnusual(organization, platform)) {
    findings.push(about(row, field, unusual(organization, platform)));
  }
  if (row.expectedInvoices === null) {
    const message = 'expectedInvoices is not given: missing invoices would not be noticed';
    findings.push(about(row, 'expectedInvoices', warning('no-expected-invoices', message, 'give it')));
  }
  return findings;
}

/** Whether an organization does not look as those of the platform do. */
export function isUnusual(organization: string, { organizationForm }: Platform): boolean {
  return organizationForm !== undefined && !organizationForm.pattern.test(organization);
}

export function unusual(organization: string, { organizationField, organizationForm }: Platform): PreflightFinding {
  const form = organizationForm === undefined ? '' : `: ${organizationForm.says}`;
  const message = `${quoted(organization)} is an unusual ${organizationField}${form}`;
  return warning('unusual-organization', message, 'make sure that it is right');
}

/** How the companies of a manifest are spread over token families. */
export interface FamilySizes {
  readonly companies: number;
  /** Of which no family is known. */
  readonly withoutFamily: number;
  /** Families of more than one company. */
  readonly families: number;
  /** Companies in these. */
  readonly related: number;
  /** Of the largest family; 0: no company has one. */
  readonly largestFamily: number;
}

/** Companies whose tokens end one another, and those of which that is not known. */
export function familyFindings(sizes: FamilySizes, platform: Platform): readonly PreflightFinding[] {
  const { companies, withoutFamily, families, related, largestFamily } = sizes;
  const findings: PreflightFinding[] = [];
  if (families > 0) {
    const message = `${counted(related, 'company')} belong to ${counted(families, 'token family')}, the largest of ${largestFamily}: one of a family is moved at a time`;
    findings.push(warning('token-families', message, 'nothing needs to be done; they take longer'));
  }
  if (platform.family === 'user' && withoutFamily > 0) {
    const message = `family is not given for ${counted(withoutFamily, 'company')} of ${companies}`;
    const advice = `name the ${platform.name} user who authorized each, so that tokens of one user do not end one another`;
    findings.push(warning('no-family', message, advice));
  }
  return findings;
}

/** What holds a company back: its errors, in one text; null: nothing. */
export function heldBackBy(findings: readonly PreflightFinding[]): string | null {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return errors.length === 0 ? null : errors.map(({ message }) => message).join('; ');
}
