/** The companies that benchmarks move: QuickBooks Online companies with one invoice each. */

export interface BenchCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly expectedInvoices: number;
  /** The authorization body that is sent to the service. */
  readonly credential: Readonly<Record<string, string>>;
}

/** The default concurrency of a plan: four slices of eight companies. */
export const CONCURRENCY = { slicesAtOnce: 4, companiesPerSliceAtOnce: 8 } as const;

/** A range of companies, whose organization ids are consecutive numbers. */
export interface CompanyRange {
  readonly first: number;
  readonly count: number;
}

/** Requests per company if its sync has ended by the first check: four to import it, four to verify it. */
export const REQUESTS_PER_COMPANY = 8;

let next = 1_000_000_000;

/** Returns a range that does not overlap any previous one. */
export function allocateCompanies(count: number): CompanyRange {
  const range = { first: next, count };
  next += count;
  return range;
}

export function companiesOf({ first, count }: CompanyRange): readonly BenchCompany[] {
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
