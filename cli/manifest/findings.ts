import type { Finding } from '../../domain/companies/finding';
import { CommandFailed } from '../shared/errors';

/** Records a finding; reading continues. */
export type Report = (finding: Finding) => void;

/** At most this many findings of one kind are listed, because a million rows may have the same fault. */
const LISTED_PER_KIND = 10_000;

/** The findings of a reading, in order. Counts all of them and lists the first of each kind. */
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

  /** Counts the findings of the same kind as this one, itself and those not listed included. */
  alike(finding: Finding): number {
    return this.#kinds.get(kindOf(finding)) ?? 0;
  }
}

/** Findings of one kind are fixed together, by one correction to a column of one file. */
function kindOf({ file, code, severity, field }: Finding): string {
  return JSON.stringify([file, code, severity, field]);
}

/** Thrown when the rest of a file cannot be read; earlier findings remain valid. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';

  constructor(readonly finding: Finding) {
    super(finding.message);
  }
}

/** Thrown when a file has changed since it was checked; nothing that was read from it since then may be used. */
export class FileChanged extends CommandFailed {
  constructor(file: string) {
    super(`${file} changed while it was being read`, 'leave it unchanged and run the command again');
  }
}

/** Quotes a client's text for a message: at most 60 characters, on one line. */
export function inQuotes(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return JSON.stringify(short).replace(/\p{Cc}/gu, ' ');
}
