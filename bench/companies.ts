/** What is moved, by whom ever: companies of QuickBooks Online with an invoice each. */
import { findPlatform } from '../platforms/platforms';
import type { Platform } from '../platforms/platforms';

export const PLATFORM = platform('quickbooks-online');

export interface MovedCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly expectedInvoices: number;
  /** What the service is given to reach its books. */
  readonly credential: Readonly<Record<string, string>>;
}

/** As many at once as a plan has by default: four slices of eight. */
export const AT_ONCE = { slicesAtOnce: 4, companiesPerSliceAtOnce: 8 } as const;

/** Companies that nobody else has: their organizations are these numbers. */
export interface CompanyRange {
  readonly first: number;
  readonly count: number;
}

/** What one company takes when its sync is over at the first look: four calls to import it, four to verify it. */
export const REQUESTS_EACH = 8;

let next = 1_000_000_000;

/** Companies that were in no range before. */
export function newCompanies(count: number): CompanyRange {
  const range = { first: next, count };
  next += count;
  return range;
}

export function companiesOf({ first, count }: CompanyRange): readonly MovedCompany[] {
  return Array.from({ length: count }, (_, index) => {
    const organization = String(first + index);
    return {
      row: index + 1,
      reference: `R-${index + 1}`,
      name: `Company ${organization}`,
      organization,
      expectedInvoices: 1,
      credential: { accessToken: 'any', refreshToken: `sbx-ok-1.${organization}`, realmId: organization },
    };
  });
}

function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}
