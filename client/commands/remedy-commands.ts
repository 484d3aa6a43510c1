import type { Remedy } from '../../domain/remedies';

/** More references than these are left to a file. */
const NAMED_AT_MOST = 8;

/** The command that does something about companies that were not moved, as it is typed. */
export function remedyCommand(remedy: Remedy, migrationId: string, references: readonly string[]): string {
  switch (remedy) {
    case 'retry':
    case 'relink':
      return `ferry ${remedy} ${migrationId} ${named(references)}`;
    case 'skip':
    case 'exclude':
      return `ferry ${remedy} ${migrationId} ${named(references)} --reason TEXT`;
    case 'replace-credential':
    case 'amend':
      return `ferry ${remedy} ${migrationId} FILE`;
  }
}

function named(references: readonly string[]): string {
  if (references.length > NAMED_AT_MOST) return '--file FILE';
  return references.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w./=:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
