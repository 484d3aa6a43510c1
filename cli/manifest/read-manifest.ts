import type { Finding, ManifestRow } from '../../domain/companies/manifest';
import type { Platform, Route } from '../../platforms/platforms';
import type { CheckedRow } from './checked-row';
import { credentialColumns, manifestColumns } from './columns';
import { readCompany } from './company-row';
import { hasCredential, readCredential, type SuppliedCredential } from './credential-row';
import { eachCredential } from './credentials';
import { ManifestDigest } from './digest';
import { Duplicates } from './duplicates';
import { FindingList, quoted, type Report } from './findings';
import { HashedNumbers } from './hashed-numbers';
import { RowFile } from './files/row-file';
import { ManifestTotals } from './totals';
import { reportCredentials, reportTotals } from './whole-manifest';

/** The files that a client supplies at the start. */
export interface ManifestFiles {
  readonly manifest: string;
  /** A second file, with the credentials by reference. */
  readonly credentials?: string;
}

/** A company, and where its organization stands in the file. */
export interface PlacedRow {
  readonly company: ManifestRow;
  readonly place: Pick<Finding, 'line' | 'column'>;
}

/**
 * A client's files that were looked through. With an error among the findings, nothing of them may be used.
 *
 * None of the rows is kept: whoever goes through them reads the files again, row by row, as often as they like.
 */
export interface Manifest {
  readonly findings: FindingList;
  readonly totals: ManifestTotals;
  readonly digest: string;
  /** Whether some company has this organization, as `organizationKey` writes it. */
  readonly hasOrganization: (key: string) => boolean;
  /** Companies that come with a credential, in either file. */
  readonly withCredential: number;
  /** The companies whose row has no error of its own. Throws `FileChanged`. */
  readonly rows: AsyncIterable<ManifestRow>;
  readonly placedRows: AsyncIterable<PlacedRow>;
  /** One for each company; where both files have one, that of the second. Throws `FileChanged`. */
  readonly credentials: AsyncIterable<SuppliedCredential>;
}

/**
 * Looks through a manifest, and the credentials that come with it. Whatever is wrong with the files is a finding; all of
 * them are collected, and nothing is thrown.
 *
 * @param now later times cannot be an `obtainedAt`
 */
export async function readManifest(
  files: ManifestFiles,
  platform: Platform,
  route: Route = 'managed',
  now = new Date(),
): Promise<Manifest> {
  const findings = new FindingList();
  const totals = new ManifestTotals();
  const digest = new ManifestDigest();
  const duplicates = new Duplicates(platform.organizationField);
  const companies = new Companies();
  /** By reference, in which file the company's credential is. */
  const suppliedIn = new HashedNumbers();
  const manifest = new RowFile(files.manifest, manifestColumns(platform, route));
  const beside = files.credentials === undefined ? null : new RowFile(files.credentials, credentialColumns(platform));

  for await (const { checked, company, credential } of eachCompany(manifest, platform, now, findings.add)) {
    if (company !== null) duplicates.company(checked, company);
    if (credential !== null) duplicates.credential(checked, credential);
    if (credential !== null) suppliedIn.set(credential.reference, MANIFEST);
    if (company === null || !checked.sound) continue;
    totals.add(company);
    digest.add(company);
    if (beside !== null) companies.add(company);
  }
  if (beside !== null) {
    // Companies are missing from a manifest with errors: that a credential fits none of them would say nothing new.
    const known = findings.errors === 0 ? companies : null;
    for await (const { checked, credential } of eachCredential(beside, platform, now, findings.add)) {
      known?.reportMisfit(checked, credential, platform);
      suppliedIn.set(credential.reference, BESIDE);
    }
  }

  async function* placedRows(): AsyncGenerator<PlacedRow> {
    for await (const { checked, company } of eachCompany(manifest, platform, now, () => undefined)) {
      if (company !== null && checked.sound) yield { company, place: checked.placeOf(platform.organizationField) };
    }
  }
  async function* rows(): AsyncGenerator<ManifestRow> {
    for await (const { company } of placedRows()) yield company;
  }
  async function* credentials(): AsyncGenerator<SuppliedCredential> {
    for await (const { credential } of eachCompany(manifest, platform, now, () => undefined)) {
      if (credential !== null && suppliedIn.get(credential.reference) === MANIFEST) yield credential;
    }
    if (beside === null) return;
    for await (const { credential } of eachCredential(beside, platform, now, () => undefined)) yield credential;
  }

  if (findings.errors === 0) {
    reportTotals(files.manifest, totals, platform, findings.add);
    const supplied = { count: suppliedIn.size, has: (reference: string) => suppliedIn.get(reference) > 0 };
    await reportCredentials(files, again(rows), supplied, { platform, route }, findings.add);
  }
  return {
    findings,
    totals,
    digest: digest.hex(),
    hasOrganization: (key) => duplicates.hasOrganization(key),
    withCredential: suppliedIn.size,
    rows: again(rows),
    placedRows: again(placedRows),
    credentials: again(credentials),
  };
}

const MANIFEST = 1;
const BESIDE = 2;

/** What can be gone through any number of times. */
function again<T>(read: () => AsyncGenerator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: read };
}

interface ReadCompany {
  readonly checked: CheckedRow;
  /** Null: something is wrong with it. */
  readonly company: ManifestRow | null;
  /** Null: there is none, or something is wrong with it. */
  readonly credential: SuppliedCredential | null;
}

async function* eachCompany(file: RowFile, platform: Platform, now: Date, report: Report): AsyncGenerator<ReadCompany> {
  let row = 0;
  for await (const checked of file.rows(report)) {
    row += 1;
    const company = readCompany(row, checked, platform);
    const credential = hasCredential(checked, platform) ? readCredential(checked, platform, now) : null;
    yield { checked, company, credential };
  }
}

/** The companies of a manifest, by what a credential says of its own. */
class Companies {
  readonly #rows = new HashedNumbers();
  readonly #rowsWithOrganization = new HashedNumbers();

  add({ row, reference, organization }: ManifestRow): void {
    this.#rows.set(reference, row);
    this.#rowsWithOrganization.set(JSON.stringify([reference, organization]), row);
  }

  /** A credential under the wrong company is what a list that slipped by one row looks like. */
  reportMisfit(
    checked: CheckedRow,
    { reference, fields }: SuppliedCredential,
    { organizationField: field }: Platform,
  ): void {
    const row = this.#rows.get(reference);
    if (row === 0) {
      const message = `the manifest has no company with the reference ${quoted(reference)}`;
      const advice = 'correct the reference, or add the company';
      checked.error('reference', 'credential-of-unknown-reference', message, advice);
      return;
    }
    const organization = fields.reveal()[field];
    if (organization === undefined) return;
    if (this.#rowsWithOrganization.get(JSON.stringify([reference, organization])) === row) return;
    const message = `${field} is not that of ${quoted(reference)} in the manifest (row ${row})`;
    checked.error(field, 'credential-of-other-organization', message, 'check whether a list has slipped by a row');
  }
}
