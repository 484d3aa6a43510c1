/** What a migration remembers of what was found, however much that is. */
import type { Preflight } from '../migration/migration-state';
import type { PreflightFinding } from './preflight-finding';

interface Kind {
  readonly first: PreflightFinding;
  readonly count: number;
}

/** Takes findings one after the other, and keeps of each kind the first and how many there were. */
export class FindingSummary {
  readonly #errors = new Map<string, Kind>();
  readonly #warnings = new Map<string, Kind>();

  add(findings: Iterable<PreflightFinding>): void {
    for (const finding of findings) {
      const kinds = finding.severity === 'error' ? this.#errors : this.#warnings;
      const { first = finding, count = 0 } = kinds.get(finding.code) ?? {};
      kinds.set(finding.code, { first, count: count + 1 });
    }
  }

  /** A sentence for each kind. */
  get sentences(): Pick<Preflight, 'problems' | 'problemCodes' | 'warnings'> {
    const errors = [...this.#errors.values()];
    return {
      problems: errors.map(sentence),
      problemCodes: errors.map(({ first }) => first.code),
      warnings: [...this.#warnings.values()].map(sentence),
    };
  }
}

function sentence({ first, count }: Kind): string {
  const place = first.about ? `${first.about.reference} (row ${first.about.row}): ` : '';
  return `${place}${first.message}${count > 1 ? `; and ${count - 1} more like it` : ''}`;
}
