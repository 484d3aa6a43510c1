/** Reads and checks a file of credentials, with the rules of `ferry check`. Its content stays in this page. */
import { credentialColumns } from '../../domain/supply/columns';
import { Duplicates } from '../../domain/supply/duplicates';
import { FindingList } from '../../domain/supply/findings';
import { parseCredential, type ParsedCredential } from '../../domain/supply/row-parser';
import type { Platform } from '../../platforms/platforms';
import { createNumberMap, readRows } from './row-file';

export interface CheckedFile {
  readonly findings: FindingList;
  /** The credentials without an error. */
  readonly credentials: readonly ParsedCredential[];
}

/** @param obtainedAt applies to credentials without an `obtainedAt` in the file */
export async function checkCredentials(file: File, platform: Platform, obtainedAt: Date): Promise<CheckedFile> {
  const findings = new FindingList();
  const credentials: ParsedCredential[] = [];
  const duplicates = new Duplicates(platform.organizationField, createNumberMap);
  const times = { now: new Date() };
  for await (const reader of readRows(file, credentialColumns(platform), findings, obtainedAt)) {
    const credential = parseCredential(reader, platform, times);
    if (credential === null) continue;
    duplicates.checkReference(reader, credential.reference);
    duplicates.checkCredential(reader, credential.fields);
    if (reader.isValid) credentials.push(credential);
  }
  return { findings, credentials };
}
