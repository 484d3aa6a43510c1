import type { Finding } from '../companies/finding';
import { withoutUnsafeCharacters } from '../text/untrusted-text';

/** Records a finding. Reading continues. */
export type Report = (finding: Finding) => void;

/** Maximum number of listed findings of one kind, because a million rows can have the same error. */
const LISTED_PER_KIND = 10_000;

/** The first findings of one kind. */
export interface FindingKind {
  readonly shown: readonly Finding[];
  /** The number of further findings of this kind. */
  readonly hidden: number;
}

/**
 * The findings of a check, in the order in which they were added. Counts all, and lists up to `LISTED_PER_KIND` of each
 * kind.
 */
export class FindingList {
  readonly listed: Finding[] = [];
  errors = 0;
  warnings = 0;
  readonly #kinds = new Map<string, number>();

  readonly add: Report = (finding) => {
    const kind = kindOf(finding);
    const count = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, count);
    if (count <= LISTED_PER_KIND) this.listed.push(finding);
    if (finding.severity === 'error') this.errors += 1;
    else this.warnings += 1;
  };

  /**
   * Returns the first findings of each kind. Errors come first, so that warnings never hide them.
   *
   * @param perKind maximum number of findings of one kind
   */
  firstOfEachKind(perKind: number): readonly FindingKind[] {
    const shown = new Map<string, Finding[]>();
    for (const finding of [...this.listed].sort(errorsFirst)) {
      const kind = kindOf(finding);
      const findings = shown.get(kind) ?? [];
      if (findings.length < perKind) shown.set(kind, [...findings, finding]);
    }
    return [...shown].map(([kind, findings]) => ({
      shown: findings,
      hidden: (this.#kinds.get(kind) ?? 0) - findings.length,
    }));
  }
}

const errorsFirst = (a: Finding, b: Finding): number =>
  Number(a.severity === 'warning') - Number(b.severity === 'warning');

/** Returns the kind of a finding. One correction to a column of a file usually fixes all findings of a kind. */
function kindOf({ file, code, severity, field }: Finding): string {
  return JSON.stringify([file, code, severity, field]);
}

/** Thrown when the rest of a file cannot be read. Earlier findings remain valid. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';

  constructor(readonly finding: Finding) {
    super(finding.message);
  }
}

/** Quotes a client's text for a message: at most 60 characters, on one line. */
export function inQuotes(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return withoutUnsafeCharacters(JSON.stringify(short));
}
