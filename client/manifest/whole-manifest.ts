import { familyFindings, type FamilySizes } from '../../domain/company-findings';
import { lookRounded, type ManifestRow } from '../../domain/manifest';
import { isRotating, type Platform, type Route } from '../../domain/platforms';
import { counted } from '../../domain/words';
import { quoted, type Report } from './findings';

interface Files {
  readonly manifest: string;
  readonly credentials?: string;
}

interface Moved {
  readonly platform: Platform;
  readonly route: Route;
}

/** What only shows when all rows are looked at together. */
export function reportWholeManifest(
  files: Files,
  rows: readonly ManifestRow[],
  credentials: ReadonlyMap<string, unknown>,
  { platform, route }: Moved,
  report: Report,
): void {
  const file = files.manifest;
  const warn = { severity: 'warning', file } as const;

  for (const [field, values] of [
    ['reference', rows.map(({ reference }) => reference)],
    [platform.organizationField, rows.map(({ organization }) => organization)],
  ] as const) {
    if (!lookRounded(values)) continue;
    const message = `every long ${field} ends in zeros after 15 digits: a spreadsheet seems to have rounded them`;
    const advice = 'compare one with the original; format the column as text before the values are put in';
    report({ ...warn, code: 'rounded-numbers', field, message, advice });
  }

  const uncounted = rows.filter(({ expectedInvoices }) => expectedInvoices === null).length;
  if (uncounted > 0) {
    const message = `expectedInvoices is not given for ${counted(uncounted, 'company')} of ${rows.length}`;
    const advice = 'give it, so that missing invoices are noticed';
    report({ ...warn, code: 'no-expected-invoices', field: 'expectedInvoices', message, advice });
  }

  for (const finding of familyFindings(familySizes(rows), platform)) report({ ...finding, file, field: 'family' });

  if (credentials.size > 0 || route === 'self-service')
    reportCredentials(files, rows, credentials, { platform, route }, report);
}

function reportCredentials(
  files: Files,
  rows: readonly ManifestRow[],
  credentials: ReadonlyMap<string, unknown>,
  { platform, route }: Moved,
  report: Report,
): void {
  const warn = { severity: 'warning', file: files.credentials ?? files.manifest } as const;
  if (route === 'managed' && isRotating(platform)) {
    const message = `${platform.name} changes its tokens: a credential counts only if it was obtained after its company was disabled`;
    const advice = 'supply them with `ferry credentials` once syncing is disabled in your application';
    report({ ...warn, code: 'credential-early', message, advice });
    return;
  }
  for (const { reference } of rows) {
    if (credentials.has(reference)) continue;
    const message = `there is no credential for ${quoted(reference)}: it waits until there is one`;
    report({ ...warn, code: 'credential-missing', message, advice: 'supply it with `ferry credentials`' });
  }
}

function familySizes(rows: readonly ManifestRow[]): FamilySizes {
  const sizes = new Map<string, number>();
  for (const { family } of rows) if (family !== null) sizes.set(family, (sizes.get(family) ?? 0) + 1);
  const several = [...sizes.values()].filter((size) => size > 1);
  return {
    companies: rows.length,
    withoutFamily: rows.filter(({ family }) => family === null).length,
    families: several.length,
    related: several.reduce((sum, size) => sum + size, 0),
    largestFamily: several.reduce((most, size) => Math.max(most, size), 1),
  };
}
