import type { Platform } from '../../platforms/platforms';
import type { CheckedRow } from './checked-row';
import { credentialColumns } from './columns';
import { readCredential, type SuppliedCredential } from './credential-row';
import { Duplicates } from './duplicates';
import { FindingList, type Report } from './findings';
import { RowFile } from './files/row-file';

/** A file of credentials that was looked through. With an error among the findings, nothing of it may be used. */
export interface Credentials {
  readonly findings: FindingList;
  /** Read again from the file, one by one. Throws `FileChanged`. */
  readonly credentials: AsyncIterable<SuppliedCredential>;
}

/**
 * Looks through a file of credentials: `reference`, the platform's authorization fields, and optionally `obtainedAt`.
 *
 * Whether there is such a company, and whether the organization is its own, is for the reader's caller to see.
 */
export async function readCredentials(path: string, platform: Platform, now = new Date()): Promise<Credentials> {
  const file = new RowFile(path, credentialColumns(platform));
  const findings = new FindingList();
  for await (const _ of eachCredential(file, platform, now, findings.add));
  async function* credentials(): AsyncGenerator<SuppliedCredential> {
    for await (const { credential } of eachCredential(file, platform, now, () => undefined)) yield credential;
  }
  return { findings, credentials: { [Symbol.asyncIterator]: credentials } };
}

/** Every credential of a file of its own with which nothing is wrong. */
export async function* eachCredential(
  file: RowFile,
  platform: Platform,
  now: Date,
  report: Report,
): AsyncGenerator<{ readonly checked: CheckedRow; readonly credential: SuppliedCredential }> {
  const duplicates = new Duplicates(platform.organizationField);
  for await (const checked of file.rows(report)) {
    const credential = readCredential(checked, platform, now);
    if (credential === null) continue;
    duplicates.reference(checked, credential.reference);
    duplicates.credential(checked, credential);
    if (checked.sound) yield { checked, credential };
  }
}
