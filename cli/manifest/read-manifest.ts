import type { Finding } from '../../domain/companies/finding';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { Platform, Route } from '../../platforms/platforms';
import { credentialColumns, manifestColumns } from '../../domain/supply/columns';
import { Duplicates } from '../../domain/supply/duplicates';
import type { Encoding, EncodingOption } from './encoding';
import { FindingList, type Report } from '../../domain/supply/findings';
import { HashedKeyMap } from './hashed-key-map';
import type { RowReader } from '../../domain/supply/row-reader';
import { RowFile, parseSecretCredential, type SecretCredential } from './row-file';
import { ManifestDigest } from '../../store';
import { hasCredential, parseCompany, type CredentialTimes } from '../../domain/supply/row-parser';
import { ManifestTotals, reportTotalFindings } from '../../domain/supply/manifest-totals';
import { CredentialMatcher, reportCredentials } from './whole-manifest';

/** A manifest, and optionally a separate credential file. */
export interface ManifestFiles extends EncodingOption {
  readonly manifest: string;
  /** A separate credential file, matched by reference. */
  readonly credentials?: string | undefined;
}

/** A company and the position of its organization in the file. */
export interface PlacedRow {
  readonly company: ManifestRow;
  readonly place: Pick<Finding, 'line' | 'column'>;
}

/**
 * A client's files after they have been checked. If the findings include an error, the files must not be used.
 *
 * No row is kept in memory: each iteration reads the files again, row by row, and throws `FileChanged` if they have
 * changed.
 */
export interface Manifest {
  readonly findings: FindingList;
  readonly totals: ManifestTotals;
  readonly digest: string;
  /** Returns whether a company has this organization. The key is the result of `organizationKey`. */
  readonly hasOrganization: (key: string) => boolean;
  /** The number of companies with a credential, in either file. */
  readonly withCredential: number;
  /** False if errors in the manifest kept the credentials of a separate file from being matched with its companies. */
  readonly areCredentialsMatched: boolean;
  /** The companies whose rows have no errors. */
  readonly rows: AsyncIterable<ManifestRow>;
  readonly placedRows: AsyncIterable<PlacedRow>;
  /** At most one per company; the separate file takes precedence over the manifest. */
  readonly credentials: AsyncIterable<SecretCredential>;
}

/** How the credentials of a migration that has started are supplied. */
interface SuppliedSeparately {
  /** Returns whether a company has a credential already. */
  readonly isSupplied: (reference: string) => boolean;
  /** The command that supplies credentials. */
  readonly command: string;
}

/**
 * Checks a manifest and the credentials that come with it. Collects errors in the files as findings instead of throwing
 * them.
 *
 * @param now an `obtainedAt` after this time is an error
 * @param separately how the credentials of a started migration are supplied; undefined before the start, when
 *   credentials can still be added to the files
 */
export async function readManifest(
  files: ManifestFiles,
  platform: Platform,
  route: Route = 'managed',
  now = new Date(),
  separately?: SuppliedSeparately,
): Promise<Manifest> {
  const findings = new FindingList();
  const totals = new ManifestTotals(new HashedKeyMap());
  const digest = new ManifestDigest();
  const duplicates = new Duplicates(platform.organizationField, () => new HashedKeyMap());
  const matcher = new CredentialMatcher();
  /** Maps the reference of a company to the file that contains its credential. */
  const credentialFile = new HashedKeyMap();
  const manifest = new RowFile(files.manifest, manifestColumns(platform, route), files.encoding);
  const separate =
    files.credentials === undefined
      ? null
      : new RowFile(files.credentials, credentialColumns(platform), files.encoding);

  for await (const { reader, company, credential } of eachCompany(manifest, platform, now, findings.add)) {
    if (company !== null) duplicates.checkCompany(reader, company);
    if (credential !== null) duplicates.checkCredential(reader, credential.fields.reveal());
    if (credential !== null) credentialFile.set(credential.reference, IN_MANIFEST);
    if (company === null || !reader.isValid) continue;
    totals.add(company);
    digest.add(company);
    if (separate !== null) matcher.add(company);
  }
  const areCredentialsMatched = separate === null || findings.errors === 0;
  if (separate !== null) {
    // No matcher is used if there are errors, because it would report the credentials of invalid rows as unknown.
    const usableMatcher = areCredentialsMatched ? matcher : null;
    for await (const { reader, credential } of eachCredential(separate, platform, { now }, findings.add)) {
      usableMatcher?.check(reader, credential, platform);
      credentialFile.set(credential.reference, IN_SEPARATE_FILE);
    }
  }

  async function* placedRows(): AsyncGenerator<PlacedRow> {
    for await (const { reader, company } of eachCompany(manifest, platform, now, () => undefined)) {
      if (company !== null && reader.isValid) yield { company, place: reader.placeOf(platform.organizationField) };
    }
  }
  async function* rows(): AsyncGenerator<ManifestRow> {
    for await (const { company } of placedRows()) yield company;
  }
  async function* credentials(): AsyncGenerator<SecretCredential> {
    for await (const { credential } of eachCompany(manifest, platform, now, () => undefined)) {
      if (credential !== null && credentialFile.get(credential.reference) === IN_MANIFEST) yield credential;
    }
    if (separate === null) return;
    for await (const { credential } of eachCredential(separate, platform, { now }, () => undefined)) yield credential;
  }

  if (findings.errors === 0) {
    reportTotalFindings(files.manifest, totals, platform, findings.add);
    const isSupplied = (reference: string): boolean =>
      credentialFile.get(reference) > 0 || separately?.isSupplied(reference) === true;
    const supplied = { count: credentialFile.size, has: isSupplied, laterWith: separately?.command ?? null };
    await reportCredentials(files, repeatable(rows), supplied, { platform, route }, findings.add);
  }
  return {
    findings,
    totals,
    digest: digest.hex(),
    hasOrganization: (key) => duplicates.hasOrganization(key),
    withCredential: credentialFile.size,
    areCredentialsMatched,
    rows: repeatable(rows),
    placedRows: repeatable(placedRows),
    credentials: repeatable(credentials),
  };
}

const IN_MANIFEST = 1;
const IN_SEPARATE_FILE = 2;

/** A credential file after it has been checked. If the findings include an error, the file must not be used. */
export interface Credentials {
  readonly findings: FindingList;
  /** The number of valid credentials. */
  readonly count: number;
  /** Each iteration reads the file again, row by row, and throws `FileChanged` if it has changed. */
  readonly credentials: AsyncIterable<SecretCredential>;
}

/**
 * Checks a credential file: `reference`, the platform's authorization fields, and optionally `obtainedAt`. Reports
 * credentials whose organization is not their company's. Reports credentials of unknown companies only if the file has
 * other errors; without errors, the caller must check whether the companies exist.
 *
 * @param matcher knows the companies of the migration; undefined if they are not known here
 */
export async function readCredentials(
  path: string,
  platform: Platform,
  times: CredentialTimes = { now: new Date() },
  encoding?: Encoding,
  matcher?: CredentialMatcher,
): Promise<Credentials> {
  const file = new RowFile(path, credentialColumns(platform), encoding);
  const findings = new FindingList();
  let count = 0;
  for await (const { reader, credential } of eachCredential(file, platform, times, findings.add)) {
    matcher?.checkOrganization(reader, credential, platform);
    count += 1;
  }
  if (matcher && findings.errors > 0) {
    const addUnknown: Report = (finding) => {
      if (finding.code === 'credential-of-unknown-reference') findings.add(finding);
    };
    for await (const { reader, credential } of eachCredential(file, platform, times, addUnknown))
      matcher.check(reader, credential, platform);
  }
  async function* credentials(): AsyncGenerator<SecretCredential> {
    for await (const { credential } of eachCredential(file, platform, times, () => undefined)) yield credential;
  }
  return { findings, count, credentials: repeatable(credentials) };
}

function repeatable<T>(read: () => AsyncGenerator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: read };
}

interface ParsedRow {
  readonly reader: RowReader;
  /** Null if the company's fields contain an error. */
  readonly company: ManifestRow | null;
  /** Null if the row has no credential, or has an error. */
  readonly credential: SecretCredential | null;
}

async function* eachCompany(file: RowFile, platform: Platform, now: Date, report: Report): AsyncGenerator<ParsedRow> {
  let row = 0;
  for await (const reader of file.rows(report)) {
    row += 1;
    const company = parseCompany(row, reader, platform);
    const credential = hasCredential(reader, platform) ? parseSecretCredential(reader, platform, { now }) : null;
    yield { reader, company, credential };
  }
}

/** Yields the valid credentials of a separate file. */
async function* eachCredential(
  file: RowFile,
  platform: Platform,
  times: CredentialTimes,
  report: Report,
): AsyncGenerator<{ readonly reader: RowReader; readonly credential: SecretCredential }> {
  const duplicates = new Duplicates(platform.organizationField, () => new HashedKeyMap());
  for await (const reader of file.rows(report)) {
    const credential = parseSecretCredential(reader, platform, times);
    if (credential === null) continue;
    duplicates.checkCredentialReference(reader, credential.reference);
    duplicates.checkCredential(reader, credential.fields.reveal());
    if (reader.isValid) yield { reader, credential };
  }
}
