/** Helpers for tests of faulty manifests and of the findings that they must produce. */
import type { Finding, FindingCode } from '../../../domain/companies/finding';
import { platform } from '../../support/migrations/platforms';
import { readWholeManifest, tempFile } from './manifest-files';

export interface FindingCase {
  /** The fault, in words. */
  readonly what: string;
  readonly content: string | Buffer;
  readonly code: FindingCode;
  readonly severity?: 'warning';
  readonly line?: number;
  readonly column?: number;
  readonly field?: string;
  readonly says?: RegExp;
  readonly advises?: RegExp;
}

export const quickBooks = platform('quickbooks-online');

export async function findingsOf(content: string | Buffer): Promise<readonly Finding[]> {
  return (await readWholeManifest({ manifest: tempFile(content) }, quickBooks)).findings;
}

export const HEADER = 'reference,name,realmId,expectedInvoices,wave';
export const VALID_ROW = 'A-1,Acme Ltd,9130357000000017,12,1';
export const csv = (...lines: string[]): string => [HEADER, ...lines].join('\n');
export const withTokens = (...lines: string[]): string =>
  ['reference,name,realmId,expectedInvoices,accessToken,refreshToken', ...lines].join('\n');

/** Asserts that the finding is reported at the expected position, and that no other error is reported. */
export async function assertFound({ content, code, severity, says, advises, ...place }: FindingCase): Promise<void> {
  const { line, column, field } = place;
  const findings = await findingsOf(content);

  const found = findings.find((finding) => finding.code === code);
  expect(found).toMatchObject({
    severity: severity ?? 'error',
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(field !== undefined && { field }),
  });
  expect(found?.file).toMatch(/companies\.csv$/);
  expect(found?.message).toMatch(says ?? /./);
  expect(found?.advice).toMatch(advises ?? /./);
  const errors = findings.filter((finding) => finding.severity === 'error').map((finding) => finding.code);
  expect(errors).toEqual(severity === 'warning' ? [] : [code]);
}
