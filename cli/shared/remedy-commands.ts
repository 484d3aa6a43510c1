import type { Remedy } from '../../domain/companies/remedies';
import type { StoredMigration } from '../../store';

/** More references than these are left to a file. */
export const NAMED_AT_MOST = 8;

/** The command that does something about companies that were not moved, as it is typed by whoever decides in the route. */
export function remedyCommand(
  remedy: Remedy,
  { id, route }: Pick<StoredMigration, 'id' | 'route'>,
  references: readonly string[],
): string {
  const command = commandOf(remedy, id, references);
  return route === 'self-service' ? `${command} --as client --by NAME` : command;
}

function commandOf(remedy: Remedy, migrationId: string, references: readonly string[]): string {
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

/** A word as a shell takes it for one. */
export function quoted(word: string): string {
  return /^[\w./=:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
