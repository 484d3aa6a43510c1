import { CompanySchema } from '../../../portal/contract';
import { STATE_LABELS, type Company, type CompanyFilter, type CompanyState } from '../../../portal/client/api';
import { counted } from '../../../domain/text/sentences';
import { choiceOption } from '../../shared/options';
import { writeCsv } from '../../shared/results';
import type { AlreadyWritten, TableCell } from '../../terminal';
import { commandText, validated, withPortal, type Connection, type PortalContext } from '../connection';
import { inReadersZone } from '../summary';

interface CompaniesOptions {
  readonly state?: CompanyState;
  readonly search?: string;
  readonly csv?: true;
}

/** Not the keys of `STATE_LABELS`, because the help of every command would load its module. */
const STATES = [
  ...['moved', 'moving', 'not-moved-yet', 'must-reconnect', 'not-moved', 'left-out'],
] as const satisfies readonly CompanyState[];

/** `ferry --portal <link> companies` */
export function addCompanies(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('companies <migration>')
    .description('List the companies with their states and what went wrong')
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
    .description('List the companies that need attention, with what went wrong and the commands that resolve it')
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
  { api, session }: Connection,
  kind: 'companies' | 'exceptions',
  filter: CompanyFilter,
  isCsv: true | undefined,
): Promise<AlreadyWritten> {
  const { output } = context;
  async function* companies(): AsyncGenerator<Company> {
    for await (const company of api.eachCompany(filter)) yield validated(CompanySchema, company);
  }
  if (output.json)
    await output.streamJson({ schema: `ferry.portal-${kind}/1`, migrationId: session.migrationId }, kind, companies());
  else if (isCsv) await writeCsv(output, csvRecords(companies()));
  else await print(context, kind, companies());
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
): Promise<void> {
  const { output } = context;
  const remedies = new Map<string, string[]>();
  const links: string[] = [];
  let count = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const { reference, name, state, problem, remedies: possible, linkUrl } of companies) {
      count += 1;
      if (linkUrl !== null) links.push(`  ${reference} reconnects at ${linkUrl}`);
      for (const remedy of possible) remedies.set(remedy, [...(remedies.get(remedy) ?? []), reference]);
      yield [reference, name, stateCell(state), inReadersZone(problem ?? '')];
    }
  }
  const table = rows();
  const first = await table.next();
  if (first.done && kind === 'exceptions') return output.line('No exceptions.');
  await output.streamTable(
    [{ title: 'Reference', unbroken: true }, { title: 'Name' }, { title: 'State' }, { title: 'What happened' }],
    first.done ? table : following(first.value, table),
  );
  for (const link of links) await output.stream(link);
  if (kind === 'exceptions' && count > 0) {
    output.line();
    for (const [remedy, references] of remedies)
      if (REMEDY_COMMANDS[remedy] !== undefined)
        output.line(`  ${commandText(context, REMEDY_COMMANDS[remedy].replace('<companies>', named(references)))}`);
  }
  output.line(counted(count, kind === 'companies' ? 'company' : 'exception'));
}

async function* following<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

const REMEDY_COMMANDS: Readonly<Record<string, string>> = {
  retry: 'retry <companies>',
  relink: 'relink <companies>',
  skip: 'skip <companies> --reason "why"',
  exclude: 'exclude <companies> --reason "why"',
  'replace-credential': 'replace-credential credentials.csv',
  credentials: 'credentials credentials.csv',
};

const MAX_NAMED = 10;

/** References as arguments, quoted for a shell; a file if there are many. */
function named(references: readonly string[]): string {
  return references.length > MAX_NAMED
    ? '--file references.txt'
    : references.map((each) => (/^[\w.@:-]+$/.test(each) ? each : `'${each.replaceAll("'", `'\\''`)}'`)).join(' ');
}

function stateCell(state: CompanyState): TableCell {
  const text = STATE_LABELS[state].toLowerCase();
  if (state === 'moved') return { text, style: 'green' };
  return state === 'must-reconnect' || state === 'not-moved' ? { text, style: 'red' } : text;
}
