/** Reads and checks a file of credentials in this page, with the rules of `ferry check`. */
import { credentialColumns } from '../../../domain/supply/columns';
import { Duplicates, reportOtherOrganization } from '../../../domain/supply/duplicates';
import { FindingList } from '../../../domain/supply/findings';
import { parseCredential, type ParsedCredential } from '../../../domain/supply/row-parser';
import type { Platform } from '../../../platforms/platforms';
import type { Company } from '../../client/api';
import { accentedValues, createNumberMap, readRows, type AccentedValue } from './row-file';
import { openSourceFile } from './source-file';

export interface CheckedFile {
  readonly findings: FindingList;
  /** The credentials without an error. */
  readonly credentials: readonly ParsedCredential[];
  /** The references with non-ASCII characters if the file was read as Windows-1252; null otherwise. */
  readonly accented: readonly AccentedValue[] | null;
}

/** The label of the field for the time of credentials without an `obtainedAt` in the file. */
export const OBTAINED_AT_LABEL = 'When your application received the credentials';

export interface CheckOptions {
  /**
   * Applies to credentials without an `obtainedAt` in the file. Null: the time when the file was last changed applies.
   */
  readonly obtainedAt: Date | null;
  readonly asWindows1252: boolean;
  readonly migrationId: string;
  /** The companies of the migration, by reference. */
  readonly known: ReadonlyMap<string, Company>;
}

export async function checkCredentials(
  file: File,
  platform: Platform,
  { obtainedAt, asWindows1252, migrationId, known }: CheckOptions,
): Promise<CheckedFile> {
  const findings = new FindingList();
  const credentials: ParsedCredential[] = [];
  const duplicates = new Duplicates(platform.organizationField, createNumberMap);
  const times = {
    now: new Date(),
    forAllRows: `enter the time under "${OBTAINED_AT_LABEL}"`,
    ...(obtainedAt !== null && { forOtherRows: obtainedAt }),
  };
  const accented: AccentedValue[] = [];
  const source = await openSourceFile(file, asWindows1252, findings, migrationId);
  if (source === null) return { findings, credentials, accented: null };
  for await (const reader of readRows(source, credentialColumns(platform), findings)) {
    const credential = parseCredential(reader, platform, times);
    if (credential === null) continue;
    accented.push(...accentedValues(reader, [credential.reference]));
    duplicates.checkCredentialReference(reader, credential.reference);
    duplicates.checkCredential(reader, credential.fields);
    const [given, expected] = [
      credential.fields[platform.organizationField],
      known.get(credential.reference)?.organization,
    ];
    if (given !== undefined && expected !== undefined && given !== expected)
      reportOtherOrganization(reader, credential.reference, platform.organizationField);
    if (reader.isValid) credentials.push(credential);
  }
  return { findings, credentials, accented: source.isWindows1252 ? accented : null };
}
