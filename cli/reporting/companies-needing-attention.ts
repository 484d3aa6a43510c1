/**
 * Prints the companies that are no exceptions, but that a person may have to act on: those without a usable credential,
 * those with a replaced application, and those that wait for their next try.
 */
import { missingCredentialText } from '../../domain/companies/credential-state';
import { remedyText, type Remedy } from '../../domain/companies/remedies';
import { replacedText } from '../../domain/preflight/applications';
import { dueTryText } from '../../domain/progress/retried';
import {
  readReplacedApplications,
  readCompanies,
  readCompanyPage,
  type Database,
  type LedgerCompany,
} from '../../store';
import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';
import { counted } from '../../domain/text/sentences';
import {
  BY_CLIENT,
  byClientNamed,
  MAX_REFERENCES_IN_A_COMMAND,
  remediesNow,
  remedyCommand,
} from '../suggestions/remedy-commands';
import { clientCommand } from '../connections/client-portal';
import {
  commandFor,
  openingFor,
  printRemedy,
  type MigrationWithStage,
  type Opening,
  type Target,
} from './listed-migration';
import type { ExceptionGroup } from './exception-groups';

/** The maximum number of companies to print of each kind. */
const OTHERS_SHOWN = 10;

type CompanyPage = Awaited<ReturnType<typeof readCompanyPage>>;

const NO_COMPANIES: CompanyPage = { companies: [], matching: 0 };

const FIRST = { offset: 0, limit: OTHERS_SHOWN };

/** Reads the companies that need a credential; none once no company can move. */
export async function readLacking(db: Database, { id, stage }: MigrationWithStage): Promise<CompanyPage> {
  return stage === 'open' ? readCompanyPage(db, id, { withoutCredential: true }, FIRST) : NO_COMPANIES;
}

/** Reads the companies that will be tried again; none once no company can move. */
export async function readRetried(db: Database, { id, stage }: MigrationWithStage): Promise<CompanyPage> {
  return stage === 'open' ? readCompanyPage(db, id, { retried: true }, FIRST) : NO_COMPANIES;
}

/** Reads the companies that depend on a replaced application. */
export function readReplaced(db: Database, migrationId: string): Promise<CompanyPage> {
  return readCompanyPage(db, migrationId, { replacedApplication: true }, FIRST);
}

function printMore(output: Output, { companies, matching }: CompanyPage, howToListAll: string): void {
  const more = matching - companies.length;
  if (more > 0) output.line(`  and ${more.toLocaleString('en-US')} more; ${howToListAll}`);
}

/** Prints the companies that depend on a replaced application, with the links with which they reconnect. */
export async function printReplaced(
  output: Output,
  { db, migrationId }: { readonly db: Database; readonly migrationId: string },
  page: CompanyPage,
): Promise<void> {
  const { companies, matching } = page;
  if (matching === 0) return;
  output.line(
    `${output.styled('bold', 'connected with an application that was replaced')}: ${counted(matching, 'company')}`,
  );
  const applications = await readReplacedApplications(db, migrationId);
  if (applications) for (const each of applications.replaced) output.line(`  ${replacedText(each, applications)}`);
  for (const { reference, linkUrl } of companies)
    output.line(
      linkUrl === null
        ? `  ${reference} has no link in the ledger; look up its link at the service`
        : `  ${reference} reconnects at ${linkUrl}`,
    );
  printMore(output, page, `list all with: ferry companies ${migrationId} --replaced-application`);
  output.line();
}

/**
 * Prints the companies that wait for their next try, with the commands that apply until then. Otherwise, a company
 * would vanish from the output as soon as a person retries it.
 */
export async function printRetried(
  output: Output,
  db: Database,
  target: Target,
  page: CompanyPage,
  opening: Opening,
): Promise<void> {
  const { companies, matching } = page;
  if (matching === 0) return;
  const { migration } = target;
  const { id } = migration;
  for (const company of companies)
    output.line(`${company.reference} ${company.name} will be tried again ${retriedAt(company, migration, opening)}`);
  const howToListAll = `they are among the companies that this command lists: ferry companies ${id} --state not-moved-yet`;
  printMore(output, page, howToListAll);
  const found = await readRetriedRemedies(db, target, opening);
  if (found.length === 0) return;
  output.line('  Until the next try, you can still decide differently:');
  const remedies = found.map(({ remedy }) => remedy);
  for (const { remedy, command, ...group } of found) printRemedy(output, remedy, command, { remedies, ...group });
  output.line();
}

const retriedAt = (
  company: Pick<LedgerCompany, 'row' | 'reference'>,
  migration: MigrationWithStage,
  opening: Opening,
): string => dueTryText(openingFor(company, migration, opening), opening.now.toISOString(), localTime);

/** A remedy of companies that wait for their next try. */
interface RetriedRemedy extends Pick<ExceptionGroup, 'companies' | 'references'> {
  readonly remedy: Remedy;
  readonly command: string;
}

/**
 * Reads all companies that wait for their next try, because the commands name more of them than are printed. Omits
 * those that are tried now, because they are claimed before anyone could decide.
 */
async function readRetriedRemedies(db: Database, target: Target, opening: Opening): Promise<readonly RetriedRemedy[]> {
  const { migration } = target;
  // Without a first company to wait for, all of them are tried at the same time.
  if (migration.released !== 'first-company' && dueTryText(opening, opening.now.toISOString(), localTime) === 'now')
    return [];
  const groups = new Map<Remedy, { companies: number; readonly references: string[] }>();
  for await (const company of readCompanies(db, migration.id, { retried: true })) {
    if (retriedAt(company, migration, opening) === 'now') continue;
    for (const remedy of remediesNow(company, migration)) {
      const group = groups.get(remedy) ?? { companies: 0, references: [] };
      group.companies += 1;
      if (group.references.length <= MAX_REFERENCES_IN_A_COMMAND) group.references.push(company.reference);
      groups.set(remedy, group);
    }
  }
  return [...groups].map(([remedy, group]) => ({
    ...{ remedy, ...group },
    command: commandFor(remedy, target, group.references),
  }));
}

/** Returns the commands for the companies that wait for their next try; none if they are tried now. */
export async function retriedJson(db: Database, target: Target, opening: Opening): Promise<readonly object[]> {
  if (target.migration.stage !== 'open') return [];
  const found = await readRetriedRemedies(db, target, opening);
  const remedies = found.map(({ remedy }) => remedy);
  return found.map(({ remedy, companies, command }) => ({
    ...{ remedy, does: remedyText(remedy, remedies), companies, command },
  }));
}

/** Prints the companies that could be moved, but have no usable credential. */
export function printLacking(output: Output, { migration, portal }: Target, page: CompanyPage): void {
  const { companies, matching } = page;
  if (matching === 0) return;
  output.line(`${output.styled('bold', 'without a usable credential')}: ${counted(matching, 'company')}`);
  output.table(
    [{ title: 'Reference', unbroken: true }, 'Name', 'What is missing'],
    companies.map((company) => [company.reference, company.name, missingCredentialText(company) ?? '']),
  );
  printMore(output, page, `list all with: ferry companies ${migration.id} --without-credential`);
  const byClient = migration.route === 'self-service' ? byClientNamed(migration.suppliedBy) : BY_CLIENT;
  output.line(`  ${clientCommand(`ferry credentials ${migration.id} credentials.csv ${byClient}`, portal)}`);
  output.line(
    `      supply credentials${migration.rotating ? ' that the client exported after its confirmation' : ''}`,
  );
  if (matching === companies.length) {
    const references = companies.map(({ reference }) => reference);
    const command = clientCommand(remedyCommand('exclude', migration, references), portal);
    printRemedy(output, 'exclude', command, { remedies: ['exclude'], references, companies: matching });
  }
  output.line();
}
