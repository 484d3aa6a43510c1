import { type MigrationView } from '../../../portal/contract/migration-view';
import {
  stateLabel,
  type Action,
  type Company,
  type CompanyFilter,
  type CompanyState,
} from '../../../portal/client/api';
import { lacksCredential, noExceptionsText, offeredRemedies, otherHelp } from '../../../portal/client/remedies';
import { counted } from '../../../domain/text/sentences';
import { choiceOption, searchOption, waveOption, withoutCredentialOption } from '../../options/options';
import {
  MAX_REFERENCES_IN_A_COMMAND,
  otherReferencesText,
  referenceArguments,
} from '../../suggestions/remedy-commands';
import { writeCsv } from '../../shared/results';
import type { TableCell } from '../../terminal/table';
import type { AlreadyWritten } from '../../terminal/output';
import type { Connection } from '../connection';
import { commandText, type PortalContext } from '../context';
import { eachCompany, withPortalToRead } from '../reading';
import { commandOf, inReadersZone } from '../summary';

interface CompaniesOptions {
  readonly state?: CompanyState;
  readonly search?: string;
  readonly wave?: number;
  readonly withoutCredential?: true;
  readonly csv?: true;
}

/** Selects companies that the portal's API cannot select. */
type Condition = (company: Company) => boolean;

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
    .addOption(searchOption())
    .addOption(waveOption())
    .addOption(withoutCredentialOption())
    .option('--csv', 'print CSV for a spreadsheet')
    .action((migrationId: string, { csv, state, search = '', wave, withoutCredential }: CompaniesOptions) => {
      const isSelected: Condition = (company) =>
        (wave === undefined || company.wave === wave) && (!withoutCredential || lacksCredential(company));
      return run(() =>
        withPortalToRead(context, migrationId, async (portal) => {
          const { view } = await portal.readMigration();
          const found = companiesFrom(portal, { state, search }, isSelected);
          return list(context, portal, 'companies', { view, companies: found, hidden: () => 0 }, csv);
        }),
      );
    });
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
        withPortalToRead(context, migrationId, async (portal) => {
          const { view } = await portal.readMigration();
          const isComplete = context.output.json || csv === true;
          return list(context, portal, 'exceptions', exceptionsFrom(portal, view, isComplete), csv);
        }),
      ),
    );
}

async function* companiesFrom(
  portal: Connection,
  filter: CompanyFilter,
  isSelected: Condition,
): AsyncGenerator<Company> {
  for await (const company of eachCompany(portal, filter)) if (isSelected(company)) yield company;
}

interface Listed {
  readonly view: MigrationView;
  readonly companies: AsyncIterable<Company>;
  /** Returns how many companies the list does not show, once it has been read. */
  readonly hidden: () => number;
}

/** Maximum number of companies to print after the exceptions: those that only lack a usable credential. */
const LACKING_SHOWN = 10;

/**
 * Reads the exceptions, and then the companies that only lack a usable credential. Once all companies are released,
 * the portal already lists these with the exceptions, so they are not repeated.
 */
function exceptionsFrom(portal: Connection, view: MigrationView, isComplete: boolean): Listed {
  const lacking = new Set<number>();
  let hidden = 0;
  async function* companies(): AsyncGenerator<Company> {
    for await (const company of eachCompany(portal, { exceptions: true })) {
      if (lacksCredential(company)) lacking.add(company.row);
      yield company;
    }
    if (lacking.size >= view.counts.withoutCredential) return;
    let shown = 0;
    const isOther: Condition = (company) => lacksCredential(company) && !lacking.has(company.row);
    for await (const company of companiesFrom(portal, { state: 'not-moved-yet' }, isOther)) {
      if (isComplete || shown < LACKING_SHOWN) yield company;
      else hidden += 1;
      shown += 1;
    }
  }
  return { view, companies: companies(), hidden: () => hidden };
}

/** Streams the companies, because there can be any number of them. */
async function list(
  context: PortalContext,
  { session }: Connection,
  kind: 'companies' | 'exceptions',
  { view, companies, hidden }: Listed,
  isCsv: true | undefined,
): Promise<AlreadyWritten> {
  const { output } = context;
  if (output.json)
    await output.streamJson({ schema: `ferry.portal-${kind}/1`, migrationId: session.migrationId }, kind, companies);
  else if (isCsv) await writeCsv(output, csvRecords(companies, view.state));
  else {
    const canDecide = session.role === 'client' && session.isKeyConfirmed;
    await print(context, kind, { view, companies, hidden }, canDecide);
  }
  return { written: true };
}

async function* csvRecords(
  companies: AsyncIterable<Company>,
  migration: string,
): AsyncGenerator<Record<string, string | number | null>> {
  for await (const { reference, name, wave, state, problem, confirmedAt, hasCredential, movedAt, linkUrl } of companies)
    yield {
      ...{ reference, name, wave, state: stateLabel(state, migration), problem, 'syncing off since': confirmedAt },
      ...{ credential: hasCredential ? 'yes' : 'no', 'moved at': movedAt, 'reconnects at': linkUrl },
    };
}

async function print(
  context: PortalContext,
  kind: 'companies' | 'exceptions',
  { view, companies, hidden }: Listed,
  canDecide: boolean,
): Promise<void> {
  const { output } = context;
  const references = new Map<string, string[]>();
  const links: string[] = [];
  let count = 0;
  let lacking = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const company of companies) {
      const { reference, name, state, problem, remedies, linkUrl } = company;
      count += 1;
      if (kind === 'exceptions' && lacksCredential(company)) lacking += 1;
      if (linkUrl !== null) links.push(`  the end customer of ${reference} can reconnect at ${linkUrl}`);
      for (const remedy of remedies) references.set(remedy, [...(references.get(remedy) ?? []), reference]);
      yield [reference, name, stateCell(state, view.state), inReadersZone(problem ?? '')];
    }
  }
  const table = rows();
  const first = await table.next();
  if (first.done && kind === 'exceptions') {
    output.line(noExceptionsText(view));
    return;
  }
  await output.streamTable(
    [{ title: 'Reference', unbroken: true }, 'Name', 'State', 'What happened'],
    first.done ? table : following(first.value, table),
  );
  if (hidden() > 0) {
    const all = commandText(context, 'companies --without-credential', view.migrationId);
    await output.stream(
      `  and ${counted(hidden(), 'other company')} without a usable credential; list all of them with: ${all}`,
    );
  }
  for (const link of links) await output.stream(link);
  if (kind === 'companies') return output.line(counted(count, 'company'));
  printHelp(context, view, references, canDecide);
  output.line(count > lacking ? exceptionsText(count - lacking, lacking + hidden()) : noExceptionsText(view));
}

function exceptionsText(exceptions: number, lacking: number): string {
  const also = lacking === 0 ? '' : `, ${counted(lacking, 'company')} without a usable credential`;
  return counted(exceptions, 'exception') + also;
}

async function* following<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

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

function stateCell(state: CompanyState, migration: string): TableCell {
  const text = stateLabel(state, migration).toLowerCase();
  if (state === 'moved') return { text, style: 'green' };
  return state === 'must-reconnect' || state === 'not-moved' ? { text, style: 'red' } : text;
}
