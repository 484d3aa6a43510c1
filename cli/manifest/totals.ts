import type { FamilySizes } from '../../domain/preflight/company-findings';
import { Rounding, type ManifestRow } from '../../domain/companies/manifest';
import type { ManifestVolume } from '../../domain/planning/volume';
import { HashedNumbers } from './hashed-numbers';

/** What the rows of a manifest are together, added up one by one. */
export class ManifestTotals implements FamilySizes, ManifestVolume {
  companies = 0;
  /** Companies that the service has already, by the client's word. */
  named = 0;
  records = 0;
  companiesWithoutVolume = 0;
  largestCompany = 0;
  withoutFamily = 0;
  families = 0;
  related = 0;
  largestFamily = 0;
  readonly references = new Rounding();
  readonly organizations = new Rounding();
  readonly #familySizes = new HashedNumbers();

  add({ reference, organization, expectedInvoices, family, named }: ManifestRow): void {
    this.companies += 1;
    this.references.see(reference);
    this.organizations.see(organization);
    if (named) this.named += 1;
    if (expectedInvoices === null) this.companiesWithoutVolume += 1;
    this.records += expectedInvoices ?? 0;
    this.largestCompany = Math.max(this.largestCompany, expectedInvoices ?? 0);
    if (family === null) this.withoutFamily += 1;
    else this.#addToFamily(family);
  }

  #addToFamily(family: string): void {
    const size = this.#familySizes.change(family, (before) => before + 1) + 1;
    this.largestFamily = Math.max(this.largestFamily, size);
    if (size === 1) return;
    if (size === 2) this.families += 1;
    this.related += size === 2 ? 2 : 1;
  }
}
