/** Rows of a manifest that another program has parsed: their digest, and the check of the rules for files. */
import type { ManifestRow } from '../companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { Finding } from '../companies/finding';
import { parseCompany } from './row-parser';
import { RowReader } from './row-reader';

/**
 * Returns the text of a row that goes into the manifest's digest, which is the SHA-256 of the texts of all rows in
 * order. Contains only values, so the digest does not depend on the file's format, encoding or column order.
 */
export function digestedRow(company: ManifestRow): string {
  const { row, reference, name, organization, expectedInvoices, wave, family, existing } = company;
  const ids = existing ? [existing.companyId, existing.connectionId] : [];
  return `${JSON.stringify([row, reference, name, organization, expectedInvoices, wave, family, ...ids])}\n`;
}

/**
 * Returns why the row cannot come from a file: the file would be refused, or reading it would change a value. Returns
 * null if it can. Does not compare the row with other rows.
 */
export function suppliedRowProblem(company: ManifestRow, platform: Platform): string | null {
  const { row, reference, name, organization, expectedInvoices, wave, family } = company;
  const fields = { reference, name, [platform.organizationField]: organization, expectedInvoices, wave, family };
  const cells = Object.entries(fields).map(
    ([field, value], index) => [field, { text: String(value ?? ''), line: row, column: index + 1 }] as const,
  );
  const errors: Finding[] = [];
  const reader = new RowReader({ file: '', modifiedAt: new Date(0) }, row, new Map(cells), (finding) => {
    if (finding.severity === 'error') errors.push(finding);
  });
  const parsed = parseCompany(row, reader, platform);
  const [error] = errors;
  if (error?.field !== undefined && !error.message.includes(error.field)) return `${error.field}: ${error.message}`;
  if (error || parsed === null) return error?.message ?? 'the row is invalid';
  return digestedRow(parsed) === digestedRow(company) ? null : alteredText(company, parsed, platform);
}

/** Says which field reading a file would change, and how to correct it. */
function alteredText(company: ManifestRow, parsed: ManifestRow, platform: Platform): string {
  const altered = (['reference', 'name', 'organization', 'family'] as const).find(
    (field) => company[field] !== parsed[field],
  );
  if (altered === undefined) return 'remove the ids of the service, which only a self-service migration accepts';
  if (altered === 'family' && platform.family === 'shop')
    return `family is not the ${platform.organizationField} in lower case, as it must be on this platform`;
  const field = altered === 'organization' ? platform.organizationField : altered;
  return `remove the spaces at the beginning and the end of ${field}`;
}
