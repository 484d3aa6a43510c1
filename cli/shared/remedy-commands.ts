import type { Remedy } from '../../domain/companies/remedies';
import type { StoredMigration } from '../../store';

/** Maximum number of references in a suggested command. A command for more references takes a file. */
export const REFERENCES_IN_A_COMMAND = 8;

/** Returns the command that applies a remedy to companies. In self-service, the client decides. */
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
      return `ferry ${remedy} ${migrationId} ${referenceArguments(references)}`;
    case 'skip':
    case 'exclude':
      return `ferry ${remedy} ${migrationId} ${referenceArguments(references)} --reason TEXT`;
    case 'replace-credential':
    case 'credentials':
    case 'amend':
      return `ferry ${remedy} ${migrationId} FILE`;
  }
}

function referenceArguments(references: readonly string[]): string {
  if (references.length > REFERENCES_IN_A_COMMAND) return '--file FILE';
  return references.map(shellQuoted).join(' ');
}

/** Quotes a word for a POSIX shell if necessary. */
export function shellQuoted(word: string): string {
  return /^[\w./=:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
