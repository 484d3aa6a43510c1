/** Makes checks across the rows and files of a manifest. */
import type { ManifestRow } from '../../domain/companies/manifest';
import { isRotating, type Platform, type Route } from '../../platforms/platforms';
import { inQuotes, type Report } from '../../domain/supply/findings';
import { reportOtherOrganization } from '../../domain/supply/duplicates';
import { HashedKeyMap } from './hashed-key-map';
import type { RowReader } from '../../domain/supply/row-reader';
import type { SecretCredential } from './row-file';

interface SuppliedReferences {
  readonly count: number;
  readonly has: (reference: string) => boolean;
  /** The command that supplies missing credentials, if the migration has started; null before the start. */
  readonly laterWith: string | null;
}

/** Reports credentials that were supplied too early, and companies without a credential. */
export async function reportCredentials(
  files: { readonly manifest: string; readonly credentials?: string | undefined },
  rows: AsyncIterable<ManifestRow>,
  supplied: SuppliedReferences,
  { platform, route }: { readonly platform: Platform; readonly route: Route },
  report: Report,
): Promise<void> {
  if (supplied.count === 0 && route === 'managed') return;
  const warning = { severity: 'warning', file: files.credentials ?? files.manifest } as const;
  const areEarly = route === 'managed' && isRotating(platform);
  if (areEarly) {
    const message = `${platform.name} rotates its tokens; credentials that were obtained before the client confirmed that syncing was off will not be used`;
    const advice = 'once the client has confirmed that syncing is off, obtain new credentials and supply them';
    report({ ...warning, code: 'credential-early', message, advice });
  }
  const code = 'credential-missing';
  const adviceFor = (credential: string, pronoun: string): string =>
    supplied.laterWith === null
      ? `add the ${credential} to the file, or supply ${pronoun} after the start`
      : `supply the ${credential} with: ${supplied.laterWith}`;
  if (await isEveryMissing(rows, supplied)) {
    const message = 'no company in this manifest has a credential; without a credential, a company cannot be moved';
    return report({ ...warning, code, message, advice: adviceFor('credentials', 'them') });
  }
  for await (const { reference } of rows) {
    if (supplied.has(reference)) continue;
    const message = `${inQuotes(reference)} has no credential, without which the company cannot be moved`;
    const advice = areEarly
      ? 'supply the credential once the client has confirmed that syncing is off'
      : adviceFor('credential', 'it');
    report({ ...warning, code, message, advice });
  }
}

/** Returns whether there are several companies, and none of them has a credential. */
async function isEveryMissing(
  rows: AsyncIterable<ManifestRow>,
  { count, has }: Pick<SuppliedReferences, 'count' | 'has'>,
): Promise<boolean> {
  if (count > 0) return false;
  let companies = 0;
  for await (const { reference } of rows) {
    if (has(reference)) return false;
    companies += 1;
  }
  return companies > 1;
}

type MatchedCompany = Pick<ManifestRow, 'row' | 'reference' | 'organization'>;

/** Matches the rows of a separate credential file to the companies in the manifest. */
export class CredentialMatcher {
  readonly #rows = new HashedKeyMap();
  readonly #rowsWithOrganization = new HashedKeyMap();

  /** @param adviceIfUnknown what to do about a credential whose company is unknown */
  constructor(private readonly adviceIfUnknown = 'correct the reference, or add the company to the manifest') {}

  add({ row, reference, organization }: MatchedCompany): void {
    this.#rows.set(reference, row);
    this.#rowsWithOrganization.set(JSON.stringify([reference, organization]), row);
  }

  /**
   * Reports a credential of an unknown company or of another organization, for example because the rows of one file
   * have shifted by one.
   */
  check(reader: RowReader, credential: SecretCredential, platform: Platform): void {
    const { reference } = credential;
    if (this.#rows.get(reference) !== 0) return this.checkOrganization(reader, credential, platform);
    const message = `the manifest has no company with the reference ${inQuotes(reference)}`;
    reader.error('reference', 'credential-of-unknown-reference', message, this.adviceIfUnknown);
  }

  /** Reports a credential whose organization is not its company's. */
  checkOrganization(
    reader: RowReader,
    { reference, fields }: SecretCredential,
    { organizationField: field }: Platform,
  ): void {
    const row = this.#rows.get(reference);
    const organization = fields.reveal()[field];
    if (row === 0 || organization === undefined) return;
    if (this.#rowsWithOrganization.get(JSON.stringify([reference, organization])) === row) return;
    reportOtherOrganization(reader, reference, field);
  }
}
