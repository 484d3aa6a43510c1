import type { Finding } from '../../domain/companies/manifest';
import { CommandFailed } from '../shared/errors';

/** Takes a finding; reading goes on. */
export type Report = (finding: Finding) => void;

/** Of findings that are alike, this many are listed: a file may have a million rows with the same fault. */
const LISTED_OF_A_KIND = 10_000;

/** What was found, in its order. Everything counts, and of what is alike the first are listed. */
export class FindingList {
  readonly listed: Finding[] = [];
  errors = 0;
  warnings = 0;
  readonly #kinds = new Map<string, number>();

  readonly add: Report = (finding) => {
    const kind = kindOf(finding);
    const count = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, count);
    if (count <= LISTED_OF_A_KIND) this.listed.push(finding);
    if (finding.severity === 'error') this.errors += 1;
    else this.warnings += 1;
  };

  /** How many are like this one, itself among them, whether listed or not. */
  alike(finding: Finding): number {
    return this.#kinds.get(kindOf(finding)) ?? 0;
  }
}

/** Of one file: findings that one and the same correction of a column helps. */
function kindOf({ file, code, severity, field }: Finding): string {
  return JSON.stringify([file, code, severity, field]);
}

/** Thrown when a file cannot be read any further; what was found until then stands. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';

  constructor(readonly finding: Finding) {
    super(finding.message);
  }
}

/** Thrown when a file is not what it was when it was checked: of what was read of it since, nothing may be used. */
export class FileChanged extends CommandFailed {
  constructor(file: string) {
    super(`${file} was changed while it was read`, 'leave it as it is, and run the command again');
  }
}

/** Something the client wrote, as it appears in a message: short, on one line, in quotes. */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return JSON.stringify(short).replace(/\p{Cc}/gu, ' ');
}
