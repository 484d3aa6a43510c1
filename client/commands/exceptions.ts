import type { FailureKind } from '../../domain/failures';
import { inWords } from '../../domain/failures';
import type { Remedy } from '../../domain/remedies';
import { remediesFor, remedyInWords } from '../../domain/remedies';
import type { LedgerCompany, StoredMigration } from '../../store';
import { readCompanies, readMigration } from '../../store';
import { NoSuchMigration } from '../ferry';
import type { CommandResult, Screen } from '../screen';
import { counted } from '../../domain/words';
import type { Context } from './context';
import { remedyCommand } from './remedy-commands';
import { withFerry } from './with-ferry';

/** `ferry exceptions`: the companies that were not moved, and what can be done about each, ready to be typed. */
export function addExceptions({ program, run, terminal }: Context): void {
  program
    .command('exceptions <migration>')
    .description('List the companies that were not moved, with the commands that can do something about each')
    .action((migration: string) => run(() => exceptions(terminal.env, migration)));
}

/** Companies with which the same can be done. */
interface Kind {
  readonly title: string;
  readonly remedies: readonly Remedy[];
  readonly companies: LedgerCompany[];
}

async function exceptions(env: NodeJS.ProcessEnv, migrationId: string): Promise<CommandResult> {
  const found: LedgerCompany[] = [];
  const migration = await withFerry(env, async ({ db }) => {
    const stored = await readMigration(db, migrationId);
    if (!stored) throw new NoSuchMigration(migrationId);
    for await (const company of readCompanies(db, migrationId, { exceptions: true })) found.push(company);
    return stored;
  });
  return {
    json: {
      schema: 'ferry.exceptions/1',
      migrationId,
      exceptions: found.map((company) => ({
        ...company,
        remedies: remediesFor(company).map((remedy) => ({
          remedy,
          does: remedyInWords(remedy),
          command: remedyCommand(remedy, migration, [company.reference]),
        })),
      })),
    },
    print: (screen) => {
      for (const kind of kindsOf(found)) printKind(screen, migration, kind);
      screen.line(found.length === 0 ? 'No exceptions.' : counted(found.length, 'exception'));
    },
  };
}

function kindsOf(found: readonly LedgerCompany[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const company of found) {
    const remedies = remediesFor(company);
    const title = titleOf(company);
    const key = [title, ...remedies].join('/');
    const kind = kinds.get(key);
    if (kind) kind.companies.push(company);
    else kinds.set(key, { title, remedies, companies: [company] });
  }
  return [...kinds.values()];
}

function titleOf({ state, failure }: { readonly state: string; readonly failure: FailureKind | null }): string {
  if (failure !== null) return inWords(failure);
  return state === 'waiting'
    ? 'held back by the check of the details'
    : 'it is not known whether the credential was used';
}

function printKind(screen: Screen, migration: StoredMigration, { title, remedies, companies }: Kind): void {
  screen.line(`${screen.styled('bold', title)}: ${counted(companies.length, 'company')}`);
  screen.table(
    [{ title: 'Reference', whole: true }, { title: 'Name' }, { title: 'What happened' }, { title: 'Correlation id' }],
    companies.map(({ reference, name, failureText, heldBack, correlationId }) => [
      reference,
      name,
      failureText ?? heldBack ?? '',
      correlationId ?? '',
    ]),
  );
  if (remedies.includes('relink')) {
    for (const { reference, linkUrl } of companies) screen.line(`  ${reference} connects again at ${linkUrl}`);
  }
  const references = companies.map(({ reference }) => reference);
  for (const remedy of remedies) {
    screen.line(`  ${remedyCommand(remedy, migration, references)}`);
    screen.line(`      ${remedyInWords(remedy)}`);
  }
  screen.line();
}
