/** Reads and checks a manifest, with the rules of `ferry check`. */
import type { ManifestRow } from '../../../domain/companies/manifest';
import { manifestColumns } from '../../../domain/supply/columns';
import { Duplicates } from '../../../domain/supply/duplicates';
import { FindingList } from '../../../domain/supply/findings';
import { ManifestTotals, reportTotalFindings } from '../../../domain/supply/manifest-totals';
import { hasCredential, parseCompany } from '../../../domain/supply/row-parser';
import type { Platform } from '../../../platforms/platforms';
import { accentedValues, createNumberMap, readRows, type AccentedValue } from './row-file';
import { openSourceFile } from './source-file';

export interface CheckedManifest {
  readonly findings: FindingList;
  /** The companies whose rows have no errors. */
  readonly rows: readonly ManifestRow[];
  /** Number of rows that also contain a credential. These credentials are not sent. */
  readonly withCredential: number;
  /** The references and names with non-ASCII characters if the file was read as Windows-1252; null otherwise. */
  readonly accented: readonly AccentedValue[] | null;
}

export async function checkManifest(
  file: File,
  platform: Platform,
  { asWindows1252, migrationId }: { readonly asWindows1252: boolean; readonly migrationId: string },
): Promise<CheckedManifest> {
  const findings = new FindingList();
  const rows: ManifestRow[] = [];
  const duplicates = new Duplicates(platform.organizationField, createNumberMap);
  const totals = new ManifestTotals(createNumberMap());
  let row = 0;
  let withCredential = 0;
  const accented: AccentedValue[] = [];
  const source = await openSourceFile(file, asWindows1252, findings, migrationId);
  if (source === null) return { findings, rows, withCredential, accented: null };
  for await (const reader of readRows(source, manifestColumns(platform, 'managed'), findings)) {
    row += 1;
    const company = parseCompany(row, reader, platform);
    if (hasCredential(reader, platform)) withCredential += 1;
    if (company === null) continue;
    accented.push(...accentedValues(reader, [company.reference, company.name]));
    duplicates.checkCompany(reader, company);
    if (!reader.isValid) continue;
    totals.add(company);
    rows.push(company);
  }
  if (findings.errors === 0) reportTotalFindings(file.name, totals, platform, findings.add);
  return { findings, rows, withCredential, accented: source.isWindows1252 ? accented : null };
}
