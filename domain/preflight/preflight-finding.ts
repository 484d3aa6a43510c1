/** What a preflight finds, and the words that it is put in. */
import type { Finding, ManifestRow } from '../companies/manifest';

/** What is wrong: with the account or with all companies, or with the one that it is about. */
export interface PreflightFinding extends Pick<Finding, 'code' | 'severity' | 'field' | 'message' | 'advice'> {
  readonly about?: Pick<ManifestRow, 'row' | 'reference'>;
}

type Words = [code: Finding['code'], message: string, advice: string];

export function error(...[code, message, advice]: Words): PreflightFinding {
  return { code, severity: 'error', message, advice };
}

export function warning(...[code, message, advice]: Words): PreflightFinding {
  return { code, severity: 'warning', message, advice };
}

/** The finding as one about a company, or about a field of it. */
export function about({ row, reference }: ManifestRow, field: string, finding: PreflightFinding): PreflightFinding {
  return { ...finding, about: { row, reference }, field };
}

/** What somebody wrote: short, because sentences stand in the migration's state. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
