import type { Finding, ManifestRow } from '../../domain/manifest';
import type { Platform, Route } from '../../domain/platforms';
import type { CheckedRow } from './checked-row';
import { credentialColumns, manifestColumns } from './columns';
import { readCompany } from './company-row';
import { hasCredential, readCredential, type SuppliedCredential } from './credential-row';
import { Duplicates } from './duplicates';
import { eachRow } from './each-row';
import { quoted, type Report } from './findings';
import { reportWholeManifest } from './whole-manifest';

/** The files that a client supplies at the start. */
export interface ManifestFiles {
  readonly manifest: string;
  /** A second file, with the credentials by reference. */
  readonly credentials?: string;
}

/** What a client's files say. With an error among the findings, nothing of it may be used. */
export interface Manifest {
  /** The companies whose row has no error. */
  readonly rows: readonly ManifestRow[];
  /** Of both files; where both have one for a company, that of the second. */
  readonly credentials: readonly SuppliedCredential[];
  readonly findings: readonly Finding[];
  /** Where each row's organization stands in the file. */
  readonly organizationPlaces: ReadonlyMap<number, Pick<Finding, 'line' | 'column'>>;
}

/** What a file of credentials says. With an error among the findings, nothing of it may be used. */
export type Credentials = Pick<Manifest, 'credentials' | 'findings'>;

/**
 * Reads a manifest, and the credentials that come with it. Whatever is wrong with the files is a finding; all of them
 * are collected, and nothing is thrown.
 *
 * @param now later times cannot be an `obtainedAt`
 */
export async function readManifest(
  files: ManifestFiles,
  platform: Platform,
  route: Route = 'managed',
  now = new Date(),
): Promise<Manifest> {
  const findings: Finding[] = [];
  const report: Report = (finding) => findings.push(finding);
  const rows: ManifestRow[] = [];
  const organizationPlaces = new Map<number, Pick<Finding, 'line' | 'column'>>();
  const credentials = new Map<string, SuppliedCredential>();
  const duplicates = new Duplicates(platform.organizationField);
  let position = 0;

  await eachRow(files.manifest, manifestColumns(platform, route), report, (checked, { modifiedAt }) => {
    position += 1;
    const company = readCompany(position, checked, platform);
    if (company !== null) duplicates.company(checked, company);
    if (hasCredential(checked, platform)) {
      const credential = readCredential(checked, platform, { fileModifiedAt: modifiedAt, now });
      if (credential !== null) duplicates.credential(checked, credential);
      if (credential !== null) credentials.set(credential.reference, credential);
    }
    if (company === null || !checked.sound) return;
    rows.push(company);
    organizationPlaces.set(company.row, checked.placeOf(platform.organizationField));
  });

  if (files.credentials !== undefined) {
    // Companies are missing from a manifest with errors: that a credential fits none of them would say nothing new.
    const companies = findings.some(isError) ? null : new Map(rows.map((row) => [row.reference, row]));
    await eachCredential(files.credentials, platform, now, report, (checked, credential) => {
      if (companies !== null) reportMisfit(checked, credential, companies.get(credential.reference), platform);
      if (checked.sound) credentials.set(credential.reference, credential);
    });
  }
  if (!findings.some(isError)) reportWholeManifest(files, rows, credentials, { platform, route }, report);
  return { rows, credentials: [...credentials.values()], findings, organizationPlaces };
}

/**
 * Reads a file of credentials: `reference`, the platform's authorization fields, and optionally `obtainedAt`.
 *
 * Whether there is such a company, and whether the organization is its own, is for the reader's caller to see.
 */
export async function readCredentials(file: string, platform: Platform, now = new Date()): Promise<Credentials> {
  const findings: Finding[] = [];
  const credentials: SuppliedCredential[] = [];
  await eachCredential(
    file,
    platform,
    now,
    (finding) => findings.push(finding),
    (_, credential) => credentials.push(credential),
  );
  return { credentials, findings };
}

const isError = ({ severity }: Finding): boolean => severity === 'error';

async function eachCredential(
  file: string,
  platform: Platform,
  now: Date,
  report: Report,
  take: (checked: CheckedRow, credential: SuppliedCredential) => void,
): Promise<void> {
  const duplicates = new Duplicates(platform.organizationField);
  await eachRow(file, credentialColumns(platform), report, (checked, { modifiedAt }) => {
    const credential = readCredential(checked, platform, { fileModifiedAt: modifiedAt, now });
    if (credential === null) return;
    duplicates.reference(checked, credential.reference);
    duplicates.credential(checked, credential);
    if (checked.sound) take(checked, credential);
  });
}

/** A credential under the wrong company is what a list that slipped by one row looks like. */
function reportMisfit(
  checked: CheckedRow,
  { reference, fields }: SuppliedCredential,
  company: ManifestRow | undefined,
  { organizationField }: Platform,
): void {
  if (company === undefined) {
    const message = `the manifest has no company with the reference ${quoted(reference)}`;
    checked.error('reference', 'credential-of-unknown-reference', message, 'correct the reference, or add the company');
    return;
  }
  const organization = fields.reveal()[organizationField];
  if (organization === undefined || organization === company.organization) return;
  const message = `${organizationField} is not that of ${quoted(reference)} in the manifest (row ${company.row})`;
  checked.error(
    organizationField,
    'credential-of-other-organization',
    message,
    'check whether a list has slipped by a row',
  );
}
