import type { Finding } from '../../domain/manifest';

/** Takes a finding; reading goes on. */
export type Report = (finding: Finding) => void;

/** Thrown when a file cannot be read any further; what was found until then stands. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';

  constructor(readonly finding: Finding) {
    super(finding.message);
  }
}

/** Something the client wrote, as it appears in a message: short, on one line, in quotes. */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return JSON.stringify(short).replace(/\p{Cc}/gu, ' ');
}
