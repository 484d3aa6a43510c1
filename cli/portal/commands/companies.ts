import { CompanySchema, type MigrationView } from '../../../portal/contract/migration-view';
import {
  STATE_LABELS,
  type Action,
  type Company,
  type CompanyFilter,
  type CompanyState,
} from '../../../portal/client/api';
import { noExceptionsText, offeredRemedies, otherHelp, remediesNow } from '../../../portal/client/remedies';
import { counted } from '../../../domain/text/sentences';
import { choiceOption } from '../../shared/options';
import { MAX_REFERENCES_IN_A_COMMAND, otherReferencesText, referenceArguments } from '../../shared/remedy-commands';
import { writeCsv } from '../../shared/results';
import type { TableCell } from '../../terminal/table';
import type { AlreadyWritten } from '../../terminal/output';
import { commandText, validated, withPortal, type Connection, type PortalContext } from '../connection';
import { commandOf, inReadersZone } from '../summary';

interface CompaniesOptions {
  readonly state?: CompanyState;
  readonly search?: string;
  readonly csv?: true;
}

/**
 * Repeats the keys of `STATE_LABELS`. Modules that `cli/` imports are loaded at their first use (scripts/build.mjs), so
 * reading the keys here would load portal/client/api.ts for every command, even for its help.
 */
const STATES = [
  ...['moved', 'moving', 'not-moved-yet', 'must-reconnect', 'not-moved', 'left-out'],
] as const satisfies readonly CompanyState[];

/** `ferry --portal <link> companies` */
export function addCompanies(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('companies <migration>')
    .description('List the companies with their states, and what went wrong')
    .addOption(choiceOption('--state <state>', 'only companies in this state', STATES))
    .option('--search <text>', 'only companies with this text in their reference or name; case is ignored')
    .option('--csv', 'print CSV for a spreadsheet')
    .action((migrationId: string, { csv, state, search = '' }: CompaniesOptions) =>
      run(() =>
        withPortal(context, migrationId, (portal) => list(context, portal, 'companies', { state, search }, csv)),
      ),
    );
}

/** `ferry --portal <link> exceptions` */
export function addExceptions(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('exceptions <migration>')
    .description('List the companies that need attention, with what went wrong and what you or support can do about it')
    .option('--csv', 'print CSV for a spreadsheet')
    .action((migrationId: string, { csv }: Pick<CompaniesOptions, 'csv'>) =>
      run(() =>
        withPortal(context, migrationId, (portal) => list(context, portal, 'exceptions', { exceptions: true }, csv)),
      ),
    );
}

/** Streams the companies, because there can be any number of them. */
async function list(
  context: PortalContext,
  { api, session, readMigration, say }: Connection,
  kind: 'companies' | 'exceptions',
  filter: CompanyFilter,
  isCsv: true | undefined,
): Promise<AlreadyWritten> {
  const { output } = context;
  const { view } = await readMigration();
  async function* companies(): AsyncGenerator<Company> {
    for await (const each of api.eachCompany(filter, say)) {
      const company = validated(CompanySchema, each);
      yield { ...company, remedies: [...remediesNow(view, company)] };
    }
  }
  if (output.json)
    await output.streamJson({ schema: `ferry.portal-${kind}/1`, migrationId: session.migrationId }, kind, companies());
  else if (isCsv) await writeCsv(output, csvRecords(companies()));
  else await print(context, kind, companies(), view, session.role === 'client' && session.isKeyConfirmed);
  return { written: true };
}

async function* csvRecords(companies: AsyncIterable<Company>): AsyncGenerator<Record<string, string | number | null>> {
  for await (const { reference, name, wave, state, problem, confirmedAt, hasCredential, movedAt, linkUrl } of companies)
    yield {
      ...{ reference, name, wave, state: STATE_LABELS[state], problem, 'syncing off since': confirmedAt },
      ...{ credential: hasCredential ? 'yes' : 'no', 'moved at': movedAt, 'reconnects at': linkUrl },
    };
}

async function print(
  context: PortalContext,
  kind: 'companies' | 'exceptions',
  companies: AsyncIterable<Company>,
  view: MigrationView,
  canDecide: boolean,
): Promise<void> {
  const { output } = context;
  const references = new Map<string, string[]>();
  const links: string[] = [];
  let count = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const { reference, name, state, problem, remedies, linkUrl } of companies) {
      count += 1;
      if (linkUrl !== null) links.push(`  the end customer of ${reference} can reconnect at ${linkUrl}`);
      for (const remedy of remedies) references.set(remedy, [...(references.get(remedy) ?? []), reference]);
      yield [reference, name, stateCell(state), inReadersZone(problem ?? '')];
    }
  }
  const table = rows();
  const first = await table.next();
  if (first.done && kind === 'exceptions') {
    output.line(noExceptionsText(view));
    const canSupply = canDecide && view.actions.some(({ message }) => message === 'credentialsSupplied');
    if (canSupply && view.counts.withoutCredential > 0)
      output.line(`  ${commandText(context, 'credentials credentials.csv', view.migrationId)}`);
    return;
  }
  await output.streamTable(
    [{ title: 'Reference', unbroken: true }, { title: 'Name' }, { title: 'State' }, { title: 'What happened' }],
    first.done ? table : following(first.value, table),
  );
  for (const link of links) await output.stream(link);
  if (kind === 'exceptions') printHelp(context, view, references, canDecide);
  output.line(counted(count, kind === 'companies' ? 'company' : 'exception'));
}

async function* following<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

/** Prints what the client can do, as commands if this person can decide, and what else can help. */
function printHelp(
  context: PortalContext,
  view: MigrationView,
  byRemedy: ReadonlyMap<string, readonly string[]>,
  canDecide: boolean,
): void {
  const { output } = context;
  const remedies = [...byRemedy.keys()];
  output.line();
  const own = offeredRemedies(view, remedies);
  if (!canDecide && own.length > 0) output.line(`  The client can: ${own.map(({ advice }) => advice).join('; ')}.`);
  for (const { remedy, action, advice } of canDecide ? own : []) {
    const references = byRemedy.get(remedy) ?? [];
    const command = commandFor(action, view, references);
    if (command === null) continue;
    output.line(`  ${commandText(context, command, view.migrationId)}`);
    const others = otherReferencesText(command, references);
    output.line(`      ${advice}${others === null ? '' : `; ${others}`}`);
  }
  for (const help of otherHelp(view, { remedies, linkUrl: null })) output.line(`  ${help}`);
}

/** Returns the command of a decision with the references in it; null if only the page can make the decision. */
function commandFor(action: Action, view: MigrationView, references: readonly string[]): string | null {
  const all = references.length > MAX_REFERENCES_IN_A_COMMAND;
  const place = all ? '<references>' : /<references>|--all/;
  return commandOf(action, view)?.replace(place, () => referenceArguments(references)) ?? null;
}

function stateCell(state: CompanyState): TableCell {
  const text = STATE_LABELS[state].toLowerCase();
  if (state === 'moved') return { text, style: 'green' };
  return state === 'must-reconnect' || state === 'not-moved' ? { text, style: 'red' } : text;
}
