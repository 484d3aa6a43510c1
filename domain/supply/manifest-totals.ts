/** The totals of a manifest, and the findings that concern more than one row. */
import { familyFindings, type FamilySizes } from '../preflight/company-findings';
import { Rounding, type ManifestRow } from '../companies/manifest';
import { outOf } from '../text/sentences';
import { hasInvoices, type Platform } from '../../platforms/platforms';
import type { NumberMap } from './duplicates';
import type { Report } from './findings';

/** The totals of a manifest, added up row by row. */
export class ManifestTotals implements FamilySizes {
  companies = 0;
  /** Number of companies that already exist at the service, according to the client. */
  existing = 0;
  records = 0;
  companiesWithoutVolume = 0;
  largestCompany = 0;
  withoutFamily = 0;
  families = 0;
  companiesInFamilies = 0;
  largestFamily = 0;
  readonly referenceRounding = new Rounding();
  readonly organizationRounding = new Rounding();

  /** @param familySizes an empty map */
  constructor(private readonly familySizes: NumberMap) {}

  add({ reference, organization, expectedInvoices, family, existing }: ManifestRow): void {
    this.companies += 1;
    this.referenceRounding.add(reference);
    this.organizationRounding.add(organization);
    if (existing) this.existing += 1;
    if (expectedInvoices === null) this.companiesWithoutVolume += 1;
    this.records += expectedInvoices ?? 0;
    this.largestCompany = Math.max(this.largestCompany, expectedInvoices ?? 0);
    if (family === null) this.withoutFamily += 1;
    else this.#addToFamily(family);
  }

  #addToFamily(family: string): void {
    const size = this.familySizes.update(family, (previous) => previous + 1) + 1;
    this.largestFamily = Math.max(this.largestFamily, size);
    if (size === 1) return;
    if (size === 2) this.families += 1;
    this.companiesInFamilies += size === 2 ? 2 : 1;
  }
}

export function reportTotalFindings(file: string, totals: ManifestTotals, platform: Platform, report: Report): void {
  const warning = { severity: 'warning', file } as const;

  for (const [field, rounding] of [
    ['reference', totals.referenceRounding],
    [platform.organizationField, totals.organizationRounding],
  ] as const) {
    if (!rounding.isLikely) continue;
    const message = `all long values of ${field} end in zeros after 15 digits; a spreadsheet has probably rounded them`;
    const advice =
      'compare one of the values with the original; if they differ, format the column as text, and then enter the values again';
    report({ ...warning, code: 'rounded-numbers', field, message, advice });
  }

  const { companies, companiesWithoutVolume } = totals;
  if (companiesWithoutVolume > 0 && hasInvoices(platform)) {
    const message = `expectedInvoices is missing for ${outOf(companiesWithoutVolume, companies, 'company')}`;
    const advice = 'fill in the number of invoices, so that missing invoices are noticed';
    report({ ...warning, code: 'no-expected-invoices', field: 'expectedInvoices', message, advice });
  }

  for (const finding of familyFindings(totals, platform)) report({ ...finding, file, field: 'family' });
}
