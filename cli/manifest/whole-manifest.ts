/** Computes the totals of a manifest, and makes checks across its rows and files. */
import { familyFindings, type FamilySizes } from '../../domain/preflight/company-findings';
import { Rounding, type ManifestRow } from '../../domain/companies/manifest';
import type { ManifestVolume } from '../../domain/planning/estimate';
import { outOf } from '../../domain/text/sentences';
import { isRotating, type Platform, type Route } from '../../platforms/platforms';
import { inQuotes, type Report } from '../../domain/supply/findings';
import { HashedKeyMap } from './hashed-key-map';
import type { RowReader } from '../../domain/supply/row-reader';
import type { SecretCredential } from './secret-credential';

/** The totals of a manifest, added up row by row. */
export class ManifestTotals implements FamilySizes, ManifestVolume {
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
  readonly #familySizes = new HashedKeyMap();

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
    const size = this.#familySizes.update(family, (previous) => previous + 1) + 1;
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
    const advice = 'compare one of them with the original; format the column as text before you enter the values';
    report({ ...warning, code: 'rounded-numbers', field, message, advice });
  }

  const { companies, companiesWithoutVolume } = totals;
  if (companiesWithoutVolume > 0) {
    const message = `expectedInvoices is missing for ${outOf(companiesWithoutVolume, companies, 'company')}`;
    const advice = 'fill it in, so that missing invoices are noticed';
    report({ ...warning, code: 'no-expected-invoices', field: 'expectedInvoices', message, advice });
  }

  for (const finding of familyFindings(totals, platform)) report({ ...finding, file, field: 'family' });
}

interface SuppliedReferences {
  readonly count: number;
  readonly has: (reference: string) => boolean;
}

/** Reports credentials that were supplied too early, and companies without a credential. */
export async function reportCredentials(
  files: { readonly manifest: string; readonly credentials?: string },
  rows: AsyncIterable<ManifestRow>,
  supplied: SuppliedReferences,
  { platform, route }: { readonly platform: Platform; readonly route: Route },
  report: Report,
): Promise<void> {
  if (supplied.count === 0 && route === 'managed') return;
  const warning = { severity: 'warning', file: files.credentials ?? files.manifest } as const;
  if (route === 'managed' && isRotating(platform)) {
    const message = `${platform.name} rotates its tokens; credentials that were obtained before the client confirmed that syncing was off will not be used`;
    const advice = 'once the client has confirmed that syncing is off, obtain new ones and supply them';
    report({ ...warning, code: 'credential-early', message, advice });
  }
  for await (const { reference } of rows) {
    if (supplied.has(reference)) continue;
    const message = `${inQuotes(reference)} has no credential and cannot be moved without one`;
    report({
      ...warning,
      code: 'credential-missing',
      message,
      advice: 'add it to the file, or supply it after the start',
    });
  }
}

type MatchedCompany = Pick<ManifestRow, 'row' | 'reference' | 'organization'>;

/** Matches the rows of a separate credential file to the companies in the manifest. */
export class CredentialMatcher {
  readonly #rows = new HashedKeyMap();
  readonly #rowsWithOrganization = new HashedKeyMap();

  add({ row, reference, organization }: MatchedCompany): void {
    this.#rows.set(reference, row);
    this.#rowsWithOrganization.set(JSON.stringify([reference, organization]), row);
  }

  /** Reports a credential of an unknown company or of another organization, for example after a shift by one row. */
  check(reader: RowReader, credential: SecretCredential, platform: Platform): void {
    const { reference } = credential;
    if (this.#rows.get(reference) !== 0) return this.checkOrganization(reader, credential, platform);
    const message = `the manifest has no company with the reference ${inQuotes(reference)}`;
    const advice = 'correct the reference, or add the company';
    reader.error('reference', 'credential-of-unknown-reference', message, advice);
  }

  /** Reports a credential of another organization than its company's. */
  checkOrganization(
    reader: RowReader,
    { reference, fields }: SecretCredential,
    { organizationField: field }: Platform,
  ): void {
    const row = this.#rows.get(reference);
    const organization = fields.reveal()[field];
    if (row === 0 || organization === undefined) return;
    if (this.#rowsWithOrganization.get(JSON.stringify([reference, organization])) === row) return;
    const message = `${field} does not match ${inQuotes(reference)} in the manifest (row ${row})`;
    const advice = 'check whether the rows of one file have shifted by one';
    reader.error(field, 'credential-of-other-organization', message, advice);
  }
}
