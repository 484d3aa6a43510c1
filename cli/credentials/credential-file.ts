/** Reads the file of `ferry credentials` and `replace-credential`, and destroys it if the person wants that. */
import { readKnownCompanies, type SealedCredential, type SuppliedCredential } from '../../store';
import type { LedgerClient } from '../../client';
import {
  CredentialMatcher,
  FindingList,
  isSealedFile,
  readCredentials,
  readSealedCredentials,
  disposeOf,
  type Disposal,
  type EncodingOption,
} from '../manifest';
import type { CommandResult } from '../terminal/output';
import { invalidFileResult } from '../shared/results';
import { readOpenMigration } from '../connections/clients';
import { assertNoTimeFor, timesFrom } from './obtained-at';
import { assertSealedFor } from './sealed-for';

interface FileOptions extends EncodingOption {
  readonly obtainedAt?: Date;
}

/** A credential file after it has been checked. If the findings include an error, the file must not be used. */
export interface CheckedFile {
  readonly findings: FindingList;
  readonly credentials: AsyncIterable<SuppliedCredential | SealedCredential>;
  readonly isSealed: boolean;
}

/**
 * Reads and checks a file for a migration that accepts credentials.
 *
 * @throws CommandFailed
 */
export async function readCredentialFile(
  ferry: LedgerClient,
  migrationId: string,
  file: string,
  options: FileOptions,
): Promise<CheckedFile> {
  const { platform } = await readOpenMigration(
    ferry,
    migrationId,
    () => 'nothing was stored; to move more companies, start a new migration and supply the credentials for it',
  );
  if (await isSealedFile(file)) return readSealedFile(ferry, migrationId, file, options);
  const matcher = new CredentialMatcher(
    `correct the reference, or add the company with: ferry amend ${migrationId} companies.csv`,
  );
  for await (const company of readKnownCompanies(ferry.db, migrationId)) matcher.add(company);
  const times = timesFrom(options);
  const { findings, credentials } = await readCredentials(file, platform, times, options.encoding, matcher);
  return { findings, credentials, isSealed: false };
}

/**
 * Reads a sealed file. Refuses a file that was sealed for another migration or with another key, because the workers
 * could not open it.
 */
async function readSealedFile(
  ferry: LedgerClient,
  migrationId: string,
  file: string,
  options: FileOptions,
): Promise<CheckedFile> {
  assertNoTimeFor(file, options);
  const sealed = await readSealedCredentials(file);
  await assertSealedFor(sealed, ferry, migrationId, file);
  return { findings: new FindingList(), credentials: sealed.credentials, isSealed: true };
}

export function hasErrors({ findings }: CheckedFile): boolean {
  return findings.errors > 0;
}

export function invalidFile({ findings }: CheckedFile): CommandResult {
  const json = { schema: 'ferry.credentials/1', stored: [] } as const;
  return invalidFileResult(json, findings, 'add --json', 'nothing was stored');
}

/** Destroys or keeps the file. Does not ask about a sealed file, because it contains no credential in plain text. */
export async function dispose(
  { isSealed }: CheckedFile,
  ...[original, isInUse, options, terminal]: Parameters<typeof disposeOf>
): Promise<Disposal> {
  if (isSealed && options.shred !== true) return { shredded: false, failed: false, print: () => undefined };
  return disposeOf(original, isInUse, options, terminal);
}
