/** What shows in the companies themselves, without asking anybody. */
import type { ManifestRow } from './manifest';
import { spreadsheetDamage, storedName } from './manifest';
import type { Platform } from './platforms';
import type { PreflightFinding } from './preflight-finding';
import { about, error, quoted, warning } from './preflight-finding';
import { counted } from './words';

/** What is wrong with companies; who reads them from a file finds more, with its place. */
export function companyFindings(rows: readonly ManifestRow[], platform: Platform): readonly PreflightFinding[] {
  return [...rows.flatMap((row) => oneCompany(row, platform)), ...familyFindings(rows, platform)];
}

function oneCompany(row: ManifestRow, platform: Platform): readonly PreflightFinding[] {
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

/** Rows whose tokens end one another, and rows of which that is not known. */
export function familyFindings(rows: readonly ManifestRow[], platform: Platform): readonly PreflightFinding[] {
  const sizes = new Map<string, number>();
  for (const { family } of rows) if (family !== null) sizes.set(family, (sizes.get(family) ?? 0) + 1);
  const families = [...sizes.values()].filter((size) => size > 1);
  const findings: PreflightFinding[] = [];
  if (families.length > 0) {
    const related = families.reduce((sum, size) => sum + size, 0);
    const largest = families.reduce((most, size) => Math.max(most, size), 0);
    const message = `${counted(related, 'company')} belong to ${counted(families.length, 'token family')}, the largest of ${largest}: one of a family is moved at a time`;
    findings.push(warning('token-families', message, 'nothing needs to be done; they take longer'));
  }
  const alone = rows.filter(({ family }) => family === null).length;
  if (platform.family === 'user' && alone > 0) {
    const message = `family is not given for ${counted(alone, 'company')} of ${rows.length}`;
    const advice = `name the ${platform.name} user who authorized each, so that tokens of one user do not end one another`;
    findings.push(warning('no-family', message, advice));
  }
  return findings;
}
