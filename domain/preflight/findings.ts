/** The findings of a preflight, and their summary, which a migration keeps in its state. */
import type { Finding } from '../companies/finding';
import type { ManifestRow } from '../companies/manifest';
import type { Preflight } from '../migration/preflight-result';
import { counted } from '../text/sentences';

/** A problem with the account, with all companies, or with the company in `about`. */
export interface PreflightFinding extends Pick<Finding, 'code' | 'severity' | 'field' | 'message' | 'advice'> {
  readonly about?: Pick<ManifestRow, 'row' | 'reference'>;
  /** The message without the names of other clients, for the client's page; absent if it is the same. */
  readonly clientMessage?: string;
}

type FindingText = [code: Finding['code'], message: string, advice: string];

export function errorFinding(...[code, message, advice]: FindingText): PreflightFinding {
  return { code, severity: 'error', message, advice };
}

export function warningFinding(...[code, message, advice]: FindingText): PreflightFinding {
  return { code, severity: 'warning', message, advice };
}

/** Attaches a finding to a field of a company. */
export function attachTo({ row, reference }: ManifestRow, field: string, finding: PreflightFinding): PreflightFinding {
  return { ...finding, about: { row, reference }, field };
}

/** Quotes and shortens untrusted text, because messages are kept in the migration's state. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

type FindingSentences = Pick<
  Preflight,
  'problems' | 'clientProblems' | 'advice' | 'problemCodes' | 'warnings' | 'clientWarnings' | 'warningAdvice'
>;

interface FindingsOfCode {
  readonly first: PreflightFinding;
  readonly count: number;
}

/** Returns the command that checks a manifest and the account. The name of the file is an example. */
export const checkAllCommand = (slug: string): string => `ferry check manifest.csv --platform ${slug}`;

/** Asks for the manifest and its encoding, because workers know neither its file nor how the file was read. */
export const WITH_YOUR_MANIFEST = ' with your manifest (and the same --encoding, if any)';

/**
 * Says how to see all rows with the same warning. Only `organization-was-connected` needs the account. Without
 * `--offline`, `ferry check` also reports that every organization is already part of `migrationId`, because it does not
 * know that the manifest belongs to this migration. It reports `no-expected-invoices` once, without naming the rows.
 */
export function checkAgainText(code: Finding['code'], migrationId: string, slug: string): string {
  if (code === 'no-expected-invoices')
    return 'the other companies are the rows of your manifest without a value for expectedInvoices';
  return code === 'organization-was-connected'
    ? `to check all rows again, run this command${WITH_YOUR_MANIFEST}, and ignore the errors about ${migrationId}: ${checkAllCommand(slug)} --all-findings`
    : `to check all rows again, run this command${WITH_YOUR_MANIFEST}: ${checkAllCommand(slug)} --offline --all-findings`;
}

/** Summarizes findings. Keeps the first finding with each code, and the number of findings with that code. */
export class FindingSummary {
  /**
   * @param more says how to see the other companies with the same error or warning; absent before the migration has
   *   started
   */
  constructor(
    private readonly more?: { readonly errors: string; readonly warnings: (code: Finding['code']) => string },
  ) {}

  readonly #errors = new Map<string, FindingsOfCode>();
  readonly #warnings = new Map<string, FindingsOfCode>();

  add(findings: Iterable<PreflightFinding>): void {
    for (const finding of findings) {
      const byCode = finding.severity === 'error' ? this.#errors : this.#warnings;
      const { first = finding, count = 0 } = byCode.get(finding.code) ?? {};
      byCode.set(finding.code, { first, count: count + 1 });
    }
  }

  /** Returns one sentence and one piece of advice per code. */
  get sentences(): FindingSentences {
    const errors = [...this.#errors.values()];
    const warnings = [...this.#warnings.values()];
    return {
      problems: errors.map(sentence),
      ...(errors.some(isDifferentForClient) ? { clientProblems: errors.map(clientSentence) } : {}),
      ...(errors.length > 0 ? { advice: errors.map((found) => adviceWith(found, this.more?.errors)) } : {}),
      problemCodes: errors.map(({ first }) => first.code),
      warnings: warnings.map(sentence),
      ...(warnings.some(isDifferentForClient) ? { clientWarnings: warnings.map(clientSentence) } : {}),
      ...(warnings.length > 0
        ? { warningAdvice: warnings.map((found) => adviceWith(found, this.more?.warnings(found.first.code))) }
        : {}),
    };
  }
}

const isDifferentForClient = ({ first }: FindingsOfCode): boolean => first.clientMessage !== undefined;

function clientSentence({ first, count }: FindingsOfCode): string {
  return sentence({ first: { ...first, message: first.clientMessage ?? first.message }, count });
}

/** Returns what to do, and how to see the other companies if the sentence names only the first of several. */
function adviceWith({ first: { advice, about }, count }: FindingsOfCode, more: string | undefined): string {
  return count > 1 && about && more !== undefined ? `${advice}; ${more}` : advice;
}

function sentence({ first, count }: FindingsOfCode): string {
  // Names the reference and not the line, because the ledger does not store the lines of the client's file.
  const place = first.about ? `${first.about.reference}: ` : '';
  return `${place}${first.message}${count > 1 ? `; and ${counted(count - 1, 'more company')} like this` : ''}`;
}
