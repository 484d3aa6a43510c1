/** Findings about single manifest rows and token families. They need no call to the service. */
import { alteredNameAdvice, spreadsheetDamage, storedName, type ManifestRow } from '../companies/manifest';
import { hasInvoices, type Platform } from '../../platforms/platforms';
import { attachTo, errorFinding, quoted, warningFinding, type PreflightFinding } from './findings';
import { counted, outOf } from '../text/sentences';

/** Returns the findings of one row. Checks of the file itself are in `domain/supply`. */
export function companyFindings(row: ManifestRow, platform: Platform): readonly PreflightFinding[] {
  const findings: PreflightFinding[] = [];
  const { name, organization } = row;
  // A company that exists keeps the name that it has at the service.
  const stored = row.existing ? name : storedName(name);
  if (stored === '') {
    const message = `the service cannot store any character of the name ${quoted(name)}`;
    findings.push(attachTo(row, 'name', errorFinding('name-empty', message, 'correct the row')));
  } else if (stored !== name) {
    const message = `the name ${quoted(name)} will be stored as ${quoted(stored)}`;
    findings.push(attachTo(row, 'name', warningFinding('name-altered', message, alteredNameAdvice(name))));
  }
  const field = platform.organizationField;
  if (organization.trim() === '' || spreadsheetDamage(organization) !== null) {
    const message = `${quoted(organization)} is not a valid ${field}`;
    findings.push(attachTo(row, field, errorFinding('spreadsheet-damage', message, 'correct the row')));
  } else if (isUnusualOrganization(organization, platform)) {
    findings.push(attachTo(row, field, unusualOrganization(organization, platform)));
  }
  if (row.expectedInvoices === null && hasInvoices(platform)) {
    const message = 'expectedInvoices is missing, so missing invoices would go unnoticed';
    findings.push(
      attachTo(row, 'expectedInvoices', warningFinding('no-expected-invoices', message, 'add the number of invoices')),
    );
  }
  return findings;
}

/** Returns whether an organization id does not have the platform's documented format. */
export function isUnusualOrganization(organization: string, { organizationForm }: Platform): boolean {
  return organizationForm !== undefined && !organizationForm.pattern.test(organization);
}

export function unusualOrganization(
  organization: string,
  { organizationField, organizationForm }: Platform,
): PreflightFinding {
  const form = organizationForm === undefined ? '' : ` (expected: ${organizationForm.description})`;
  const message = `${quoted(organization)} is an unusual ${organizationField}${form}`;
  return warningFinding('unusual-organization', message, 'check that the value is right');
}

/** How the companies of a manifest are distributed among token families. */
export interface FamilySizes {
  readonly companies: number;
  /** Companies whose family is not given. */
  readonly withoutFamily: number;
  /** Families of more than one company. */
  readonly families: number;
  /** Companies in these families. */
  readonly companiesInFamilies: number;
  /** Companies of the largest family; 0 if no company has a family. */
  readonly largestFamily: number;
}

/** Returns findings about families of more than one company, and about companies whose family is not given. */
export function familyFindings(sizes: FamilySizes, platform: Platform): readonly PreflightFinding[] {
  const { companies, withoutFamily, families, companiesInFamilies, largestFamily } = sizes;
  const findings: PreflightFinding[] = [];
  if (families > 0) {
    const largest = families === 1 ? '' : `, and the largest family has ${counted(largestFamily, 'company')}`;
    const message = `${counted(companiesInFamilies, 'company')} belong to ${counted(families, 'token family')}; companies of one family move one at a time${largest}`;
    findings.push(warningFinding('token-families', message, 'nothing to do; these companies take longer'));
  }
  if (platform.family === 'user' && withoutFamily > 0) {
    const message = `the token family is missing for ${outOf(withoutFamily, companies, 'company')}`;
    const advice = `fill in the column "family" with the ${platform.name} user who authorized each company, because tokens of one user invalidate one another`;
    findings.push(warningFinding('no-family', message, advice));
  }
  return findings;
}

/** Why a company is held back. Both texts are null if it is not. */
export interface HeldBackTexts {
  /** The errors without the names of other clients, because the client reads this text. */
  readonly heldBack: string | null;
  /** The errors with these names, for support. Null if the texts are the same. */
  readonly heldBackDetails: string | null;
}

/** Joins the errors that hold a company back into one text for the client, and one for support. */
export function heldBackBy(findings: readonly PreflightFinding[]): HeldBackTexts {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return { heldBack: null, heldBackDetails: null };
  const heldBack = errors.map(({ message, clientMessage = message }) => clientMessage).join('; ');
  const details = errors.map(({ message }) => message).join('; ');
  return { heldBack, heldBackDetails: details === heldBack ? null : details };
}
