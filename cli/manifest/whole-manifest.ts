import { familyFindings } from '../../domain/preflight/company-findings';
import type { ManifestRow } from '../../domain/companies/manifest';
import { isRotating, type Platform, type Route } from '../../platforms/platforms';
import { counted } from '../../domain/text/sentences';
import { quoted, type Report } from './findings';
import type { ManifestTotals } from './totals';

/** What only shows when all rows are looked at together. */
export function reportTotals(file: string, totals: ManifestTotals, platform: Platform, report: Report): void {
  const warn = { severity: 'warning', file } as const;

  for (const [field, rounding] of [
    ['reference', totals.references],
    [platform.organizationField, totals.organizations],
  ] as const) {
    if (!rounding.isLikely) continue;
    const message = `every long ${field} ends in zeros after 15 digits: a spreadsheet seems to have rounded them`;
    const advice = 'compare one with the original; format the column as text before the values are put in';
    report({ ...warn, code: 'rounded-numbers', field, message, advice });
  }

  const { companies, companiesWithoutVolume } = totals;
  if (companiesWithoutVolume > 0) {
    const message = `expectedInvoices is not given for ${counted(companiesWithoutVolume, 'company')} of ${companies}`;
    const advice = 'give it, so that missing invoices are noticed';
    report({ ...warn, code: 'no-expected-invoices', field: 'expectedInvoices', message, advice });
  }

  for (const finding of familyFindings(totals, platform)) report({ ...finding, file, field: 'family' });
}

interface Files {
  readonly manifest: string;
  readonly credentials?: string;
}

interface Supplied {
  readonly count: number;
  readonly has: (reference: string) => boolean;
}

interface Moved {
  readonly platform: Platform;
  readonly route: Route;
}

/** Credentials that come too early, or companies that come without one. */
export async function reportCredentials(
  files: Files,
  rows: AsyncIterable<ManifestRow>,
  supplied: Supplied,
  { platform, route }: Moved,
  report: Report,
): Promise<void> {
  if (supplied.count === 0 && route === 'managed') return;
  const warn = { severity: 'warning', file: files.credentials ?? files.manifest } as const;
  if (route === 'managed' && isRotating(platform)) {
    const message = `${platform.name} changes its tokens: a credential counts only if it was obtained after its company was disabled`;
    const advice = 'supply them with `ferry credentials` once syncing is disabled in your application';
    report({ ...warn, code: 'credential-early', message, advice });
    return;
  }
  for await (const { reference } of rows) {
    if (supplied.has(reference)) continue;
    const message = `there is no credential for ${quoted(reference)}: it waits until there is one`;
    report({ ...warn, code: 'credential-missing', message, advice: 'supply it with `ferry credentials`' });
  }
}
