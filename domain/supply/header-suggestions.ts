/** Suggests which column a header means, if it is not the name of a column. */
import { PLATFORMS } from '../../platforms/platforms';
import { nearest } from '../text/nearest';
import { inQuotes } from './findings';

/** Returns a column name without case, spaces, hyphens and underscores. */
export const normalized = (header: string): string => header.toLowerCase().replace(/[\s_-]/g, '');

/** Returns whether a column is the organization on some platform. */
export const isOrganizationField = (name: string): boolean =>
  PLATFORMS.some(({ organizationField }) => organizationField === name);

/** Returns the headers that can only be the organization of another platform, with the names of the platforms. */
export function headersOfOtherPlatforms(
  headers: readonly string[],
): readonly { readonly header: string; readonly platforms: readonly string[] }[] {
  const ambiguous = Object.values(USUAL_HEADERS).flat();
  return headers
    .filter((header) => !ambiguous.includes(normalized(header)))
    .map((header) => ({
      header,
      platforms: PLATFORMS.filter((each) => normalized(each.organizationField) === normalized(header)).map(
        ({ name }) => name,
      ),
    }))
    .filter(({ platforms }) => platforms.length > 0);
}

/** Usual headers for a column. A finding only suggests renaming them, because they can have another meaning. */
const USUAL_HEADERS: Readonly<Record<string, readonly string[]>> = {
  name: ['companyname', 'customername', 'clientname', 'businessname', 'legalname', 'tradename'],
  reference: ['ref', 'id', 'companyid', 'customerid', 'clientid', 'externalid', 'customernumber', 'number'],
  expectedInvoices: ['invoices', 'invoicecount', 'numberofinvoices'],
};
const USUAL_ORGANIZATION_HEADERS = ['realm', 'tenant', 'tenantid', 'organisation', 'organisationid', 'organizationid'];
/** Headers that can mean the name or the reference of a company. */
const COMPANY_HEADERS = ['company', 'customer', 'client', 'business'];

/**
 * Returns the headers that probably mean the column: a misspelt name, or else usual names, or else words for a company,
 * or else names that contain the name of the column.
 */
export function nearMisses(name: string, headers: readonly string[]): readonly string[] {
  const misspelt = nearest(name, headers);
  if (misspelt !== undefined) return [misspelt];
  const usual = USUAL_HEADERS[name] ?? (isOrganizationField(name) ? USUAL_ORGANIZATION_HEADERS : []);
  const words = name === 'name' || name === 'reference' ? COMPANY_HEADERS : [];
  const found = [usual, words].map((each) => headers.filter((header) => each.includes(normalized(header))));
  const containing = headers.filter((header) => normalized(header).includes(normalized(name)));
  return [...found, containing].find((each) => each.length > 0) ?? [];
}

/** Returns the headers that probably mean each missing column. A header is suggested for one column only. */
export function suggestedHeaders(
  missing: readonly string[],
  unused: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  // Begins with the name, because a word such as "Customer" means the name more often than the reference.
  for (const name of [...missing].sort((one, other) => Number(other === 'name') - Number(one === 'name'))) {
    const taken = [...found.values()].flat();
    const headers = nearMisses(
      name,
      unused.filter((header) => !taken.includes(header)),
    );
    if (headers.length > 0) found.set(name, headers);
  }
  return found;
}

/** Returns how to rename the headers to the column: `rename "Customer" to name if that is its content`. */
export function renameText(name: string, headers: readonly string[]): string {
  const isUncertain = headers.some((header) => COMPANY_HEADERS.includes(normalized(header)));
  const condition = isUncertain ? ' if that is its content' : '';
  return `rename ${headers.map((header) => inQuotes(header)).join(' or ')} to ${name}${condition}`;
}
