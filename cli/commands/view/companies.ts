import type { CompanyState } from '../../../domain/companies/company-state';
import { COMPANY_STATES, clientStateText } from '../../../domain/companies/company-state';
import type { FailureKind } from '../../../domain/companies/failures';
import { FAILURE_KINDS } from '../../../domain/companies/failures';
import { counted } from '../../../domain/text/sentences';
import type { CompanyFilter, LedgerCompany } from '../../../store';
import { readCompanies, readCompanyPage } from '../../../store';
import type { LedgerClient } from '../../../client';
import { readCounts } from '../../../client';
import type { Output, AlreadyWritten, TableCell } from '../../terminal';
import type { Context } from '../../shared/context';
import { flowCsv } from '../../shared/csv';
import { countOption, wordOption } from '../../shared/options';
import { withLedgerClient } from '../../shared/with-ferry';

interface CompaniesOptions {
  readonly state?: CompanyState;
  readonly failure?: FailureKind;
  readonly search?: string;
  readonly wave?: number;
  readonly limit?: number;
  readonly page?: number;
  readonly csv?: true;
}

const ON_A_PAGE = 50;

/** `ferry companies`: how far each company is and what went wrong. */
export function addCompanies({ program, run, output, terminal }: Context): void {
  program
    .command('companies <migration>')
    .description('List the companies of a migration: how far each is, and what went wrong')
    .addOption(wordOption('--state <state>', 'only those in this state', COMPANY_STATES))
    .addOption(wordOption('--failure <kind>', 'only those that were not moved for this reason', FAILURE_KINDS))
    .option('--search <text>', 'only those with this text in their reference or name, in capitals or not')
    .addOption(countOption('--wave <number>', 'only those of this wave'))
    .addOption(countOption('--limit <number>', `so many at most (default: all, with --page ${ON_A_PAGE})`, 1))
    .addOption(countOption('--page <number>', 'the first, the second ... of so many', 1))
    .option('--csv', 'as CSV, for a spreadsheet')
    .action((migration: string, options: CompaniesOptions) =>
      run(() => withLedgerClient(terminal.env, (ferry) => companies(output, ferry, migration, options))),
    );
}

/** Companies that can be gone through more than once. */
interface Found {
  readonly companies: () => AsyncIterable<LedgerCompany>;
  /** Where these are only some of them. */
  readonly page?: { readonly number: number; readonly from: number; readonly matching: number };
}

/** Written while they are read: there may be any number of them. */
async function companies(
  output: Output,
  ferry: LedgerClient,
  migrationId: string,
  options: CompaniesOptions,
): Promise<AlreadyWritten> {
  await readCounts(ferry, migrationId);
  const found = await find(ferry, migrationId, options);
  if (options.csv && !output.json) await flowCsv(output, records(found.companies()));
  else if (output.json) {
    const { page } = found;
    const which = page && { page: page.number, matching: page.matching };
    await output.streamJson({ schema: 'ferry.companies/1', migrationId, ...which }, 'companies', found.companies());
  } else await print(output, found);
  return { written: true };
}

async function find({ db }: LedgerClient, migrationId: string, options: CompaniesOptions): Promise<Found> {
  const { limit, page = 1 } = options;
  const filter = filterOf(options);
  if (limit === undefined && options.page === undefined) {
    return { companies: () => readCompanies(db, migrationId, filter) };
  }
  const size = limit ?? ON_A_PAGE;
  const from = (page - 1) * size;
  const { companies, matching } = await readCompanyPage(db, migrationId, filter, { offset: from, limit: size });
  return { companies: () => all(companies), page: { number: page, from, matching } };
}

function filterOf({ state, failure, search, wave }: CompaniesOptions): CompanyFilter {
  return {
    ...(state === undefined ? {} : { states: [state] }),
    ...(failure === undefined ? {} : { failure }),
    ...(search === undefined ? {} : { search }),
    ...(wave === undefined ? {} : { wave }),
  };
}

async function* all<T>(some: readonly T[]): AsyncGenerator<T> {
  yield* some;
}

async function* records(found: AsyncIterable<LedgerCompany>): AsyncGenerator<Record<string, string | number | null>> {
  for await (const company of found) {
    const { reference, name, organization, wave, state, failure, movedAt } = company;
    yield {
      ...{ reference, name, organization, wave, state },
      'for the client': clientStateText(state, failure),
      failure,
      'what happened': whatHappened(company),
      'moved at': movedAt?.toISOString() ?? null,
      'connects again at': mayConnectAgain(company) ? company.linkUrl : null,
      'company id': company.companyId,
      'connection id': company.connectionId,
      'correlation id': company.correlationId,
    };
  }
}

function whatHappened({ state, failureText, heldBack, confirmedAt }: LedgerCompany): string {
  const whyWaiting = state === 'waiting' ? (heldBack ?? (confirmedAt ? '' : 'not confirmed as disabled')) : '';
  return failureText ?? whyWaiting;
}

async function print(output: Output, { companies: found, page }: Found): Promise<void> {
  let count = 0;
  let links = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const company of found()) {
      count += 1;
      if (mayConnectAgain(company)) links += 1;
      yield [company.reference, company.name, coloured(company.state), whatHappened(company)];
    }
  }
  await output.streamTable(
    [{ title: 'Reference', unbroken: true }, { title: 'Name' }, { title: 'State' }, { title: 'What happened' }],
    rows(),
  );
  if (links > 0) await printLinks(output, found());
  const of = counted(page?.matching ?? count, 'company');
  output.line(page && count > 0 ? `${page.from + 1} to ${page.from + count} of ${of}` : of);
}

async function printLinks(output: Output, found: AsyncIterable<LedgerCompany>): Promise<void> {
  for await (const company of found) {
    if (mayConnectAgain(company)) await output.stream(`  ${company.reference} connects again at ${company.linkUrl}`);
  }
}

function mayConnectAgain({ failure, linkUrl }: LedgerCompany): boolean {
  return failure === 'reauthorization-required' && linkUrl !== null;
}

function coloured(state: CompanyState) {
  if (state === 'migrated') return { text: state, style: 'green' as const };
  return state === 'failed' || state === 'outcome-unknown' ? { text: state, style: 'red' as const } : state;
}
