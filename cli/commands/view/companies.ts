import {
  CLIENT_STATES,
  clientStateOf,
  clientStateText,
  isWronglyConnected,
  ledgerStatesOf,
  needsLink,
  unreachedText,
  type ClientState,
  type MoveStage,
} from '../../../domain/companies/company-state';
import { heldBackForSupport, missingCredentialText, notReadyText } from '../../../domain/companies/credential-state';
import { FAILURE_KINDS, type FailureKind } from '../../../domain/companies/failures';
import { REPLACED_PROBLEM } from '../../../domain/preflight/applications';
import { counted } from '../../../domain/text/sentences';
import { readCompanies, readCompanyPage, readMigration, type CompanyFilter, type LedgerCompany } from '../../../store';
import { NoSuchMigration, readStage, type LedgerClient } from '../../../client';
import type { TableCell } from '../../terminal/table';
import type { Output, AlreadyWritten } from '../../terminal/output';
import { withLedgerClient } from '../../connections/clients';
import type { Context } from '../../shared/context';
import { choiceOption, integerOption, searchOption, waveOption, withoutCredentialOption } from '../../options/options';
import { companyJson } from '../../../client/report-formats';
import { explanationOf, writeCsv } from '../../shared/results';
import { mapped, type Stream } from '../../../domain/text/streams';

interface CompaniesOptions {
  readonly state?: ClientState;
  readonly failure?: FailureKind;
  readonly search?: string;
  readonly wave?: number;
  readonly limit?: number;
  readonly page?: number;
  readonly withoutCredential?: true;
  readonly replacedApplication?: true;
  readonly csv?: true;
}

const PAGE_SIZE = 50;

export function addCompanies({ program, run, output, terminal }: Context): void {
  program
    .command('companies <migration>')
    .description('List the companies of a migration with their states and what went wrong')
    .addOption(choiceOption('--state <state>', 'only companies in this state', Object.keys(CLIENT_STATES)))
    .addOption(choiceOption('--failure <kind>', 'only companies whose last try failed for this reason', FAILURE_KINDS))
    .addOption(searchOption())
    .addOption(waveOption())
    .addOption(withoutCredentialOption())
    .option(
      '--replaced-application',
      'only companies whose application was replaced after they were connected, with the links to reconnect',
    )
    .addOption(integerOption('--limit <number>', `companies per page (default: all, or ${PAGE_SIZE} with --page)`, 1))
    .addOption(integerOption('--page <number>', 'page number', 1))
    .option('--csv', 'print CSV for a spreadsheet')
    .action((migration: string, options: CompaniesOptions) =>
      run(() => withLedgerClient(terminal.env, (ferry) => companies(output, ferry, migration, options))),
    );
}

/** The selected companies. They can be read more than once. */
interface Selection {
  readonly companies: () => Stream<LedgerCompany>;
  /** The selected page; absent if all matching companies are selected. */
  readonly page?: { readonly number: number; readonly from: number; readonly matching: number };
}

/** Streams the companies, because there can be any number of them. */
async function companies(
  output: Output,
  ferry: LedgerClient,
  migrationId: string,
  options: CompaniesOptions,
): Promise<AlreadyWritten> {
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const stage = await readStage(ferry, migration);
  const hasEnded = stage !== 'open';
  const selection = await select(ferry, migrationId, options, hasEnded);
  if (output.json) {
    const { page } = selection;
    const pageFields = page && { page: page.number, matching: page.matching };
    const head = { schema: 'ferry.companies/1', migrationId, ...pageFields } as const;
    const records = mapped(selection.companies(), (company) => companyJson(company, hasEnded));
    await output.streamJson(head, 'companies', records);
  } else if (options.csv)
    await writeCsv(
      output,
      mapped(selection.companies(), (company) => csvRecord(company, stage)),
    );
  else await print(output, selection, stage);
  return { written: true };
}

async function select(
  { db }: LedgerClient,
  migrationId: string,
  options: CompaniesOptions,
  hasEnded: boolean,
): Promise<Selection> {
  const { limit, page = 1 } = options;
  const filter = filterFrom(options, hasEnded);
  if (limit === undefined && options.page === undefined) {
    return { companies: () => readCompanies(db, migrationId, filter) };
  }
  const size = limit ?? PAGE_SIZE;
  const from = (page - 1) * size;
  const { companies, matching } = await readCompanyPage(db, migrationId, filter, { offset: from, limit: size });
  return { companies: () => companies, page: { number: page, from, matching } };
}

function filterFrom(
  { state, failure, search, wave, withoutCredential, replacedApplication }: CompaniesOptions,
  hasEnded: boolean,
): CompanyFilter {
  return {
    ...(state === undefined ? {} : ledgerStatesOf(state, hasEnded)),
    ...(failure === undefined ? {} : { failure }),
    ...(search === undefined ? {} : { search }),
    ...(wave === undefined ? {} : { wave }),
    ...(withoutCredential === undefined ? {} : { withoutCredential }),
    ...(replacedApplication === undefined ? {} : { replacedApplication }),
  };
}

function csvRecord(company: LedgerCompany, stage: MoveStage): Record<string, string | number | null> {
  const { reference, name, organization, wave, state, failure, movedAt } = company;
  return {
    ...{ reference, name, organization, wave },
    state: clientStateText(state, failure, stage),
    'ledger state': state,
    failure,
    'what happened': whatHappened(company, stage),
    'moved at': movedAt?.toISOString() ?? null,
    'reconnects at': canReconnect(company) ? company.linkUrl : null,
    'company id': company.companyId,
    'connection id': company.connectionId,
    'correlation id': company.correlationId,
    credential: company.credential,
  };
}

function whatHappened(company: LedgerCompany, stage: MoveStage): string {
  const isReplaced = company.replacedApplication && clientStateOf(company.state, company.failure) !== 'must-reconnect';
  return [ownProblem(company, stage), isReplaced ? REPLACED_PROBLEM : ''].filter(Boolean).join('; ');
}

function ownProblem(company: LedgerCompany, stage: MoveStage): string {
  const { state, tries } = company;
  const explanation = explanationOf(company);
  const unreached = state === 'waiting' ? unreachedText(stage, tries) : null;
  if (unreached !== null) return [explanation ?? heldBackForSupport(company) ?? [], unreached].flat().join('; ');
  if (explanation !== null) return [explanation, missingCredentialText(company) ?? []].flat().join('; ');
  if (state === 'outcome-unknown') return 'it is unknown whether the credential was used';
  return state === 'waiting' ? (heldBackForSupport(company) ?? notReadyText(company) ?? '') : '';
}

async function print(output: Output, { companies: read, page }: Selection, stage: MoveStage): Promise<void> {
  let count = 0;
  let links = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const company of read()) {
      count += 1;
      if (canReconnect(company)) links += 1;
      yield [company.reference, company.name, stateCell(company, stage), whatHappened(company, stage)];
    }
  }
  await output.streamTable([{ title: 'Reference', unbroken: true }, 'Name', 'State', 'What happened'], rows());
  if (links > 0) await printLinks(output, read());
  const total = counted(page?.matching ?? count, 'company');
  if (page === undefined || page.matching === 0) output.line(total);
  else if (count === 0) output.line(`Page ${page.number} is empty: the list has ${total}`);
  else output.line(`${page.from + 1} to ${page.from + count} of ${total}`);
}

async function printLinks(output: Output, found: Stream<LedgerCompany>): Promise<void> {
  for await (const company of found) {
    if (canReconnect(company)) await output.stream(`  ${company.reference} reconnects at ${company.linkUrl}`);
  }
}

function canReconnect(company: LedgerCompany): boolean {
  const { state, failure, linkUrl, replacedApplication } = company;
  return linkUrl !== null && (needsLink(state, failure, replacedApplication) || isWronglyConnected(company));
}

function stateCell({ state, failure }: LedgerCompany, stage: MoveStage): TableCell {
  const text = clientStateText(state, failure, stage);
  switch (clientStateOf(state, failure, stage !== 'open')) {
    case 'moved':
      return { text, style: 'green' };
    case 'must-reconnect':
    case 'not-moved':
      return { text, style: 'red' };
    case 'moving':
    case 'not-moved-yet':
    case 'left-out':
      return state === 'outcome-unknown' ? { text, style: 'red' } : text;
  }
}
