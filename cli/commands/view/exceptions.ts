import type { MoveStage } from '../../../domain/companies/company-state';
import { heldBackForSupport, missingCredentialText } from '../../../domain/companies/credential-state';
import { failureText } from '../../../domain/companies/failures';
import type { Remedy } from '../../../domain/companies/remedies';
import { remediesFor, remedyText } from '../../../domain/companies/remedies';
import { replacedText } from '../../../domain/preflight/applications';
import type { Window } from '../../../domain/planning/windows';
import { nextMove } from '../../../domain/planning/windows';
import { nextTryText as nextDueTryText } from '../../../domain/progress/retried';
import type { Database, LedgerCompany, StoredMigration } from '../../../store';
import {
  readApplications,
  readReplacedApplications,
  readCompanies,
  readCompanyPage,
  readLimits,
  readMigration,
} from '../../../store';
import type { LedgerClient } from '../../../client';
import { NoSuchMigration, readStage } from '../../../client';
import type { TableCell } from '../../terminal/table';
import type { Output, AlreadyWritten } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import type { RemedyTarget } from '../../shared/remedy-commands';
import {
  AS_CLIENT,
  BY_CLIENT,
  MAX_REFERENCES_IN_A_COMMAND,
  otherReferencesText,
  remediesNow,
  remedyCommand,
} from '../../shared/remedy-commands';
import { companyJson } from '../../../client/report-formats';
import { clientCommand, readClientPortal } from '../../shared/client-portal';
import { withLedgerClient } from '../../shared/clients';

export function addExceptions({ program, run, output, terminal }: Context): void {
  program
    .command('exceptions <migration>')
    .description(
      'List the companies with problems, and the commands that resolve each problem. A problem is, for example, a failed or deferred move, a missing credential or a replaced application',
    )
    .action((migration: string) =>
      run(() =>
        withLedgerClient(terminal.env, async (ferry) =>
          exceptions(output, ferry, migration, await readClientPortal(ferry, migration)),
        ),
      ),
    );
}

/** The stage says whether companies can still move. The ledger alone does not know that a workflow was terminated. */
type ListedMigration = StoredMigration & RemedyTarget & { readonly stage: MoveStage };

/** The migration, and the portal's address if its client signs decisions in the portal. */
interface Target {
  readonly migration: ListedMigration;
  readonly portal: string | null;
}

/** The facts that determine when a deferred company is tried again, apart from its own delay. */
interface Opening {
  readonly windows: readonly Window[];
  readonly now: Date;
  readonly paused: boolean;
}

/** Companies with the same problem and the same remedies. */
interface ExceptionGroup {
  readonly title: string;
  readonly remedies: readonly Remedy[];
  readonly companies: number;
  /**
   * The first references, up to one more than fit into a suggested command. The extra reference makes `remedyCommand`
   * suggest `--all` if the command has that option.
   */
  readonly references: readonly string[];
}

/** Reads and prints the companies once per group, as a stream, because there can be any number of them. */
async function exceptions(
  output: Output,
  ferry: LedgerClient,
  migrationId: string,
  portal: string | null,
): Promise<AlreadyWritten> {
  const { db } = ferry;
  const stored = await readMigration(db, migrationId);
  if (!stored) throw new NoSuchMigration(migrationId);
  const stage = await readStage(ferry, stored);
  const migration = { ...stored, stage, application: (await readApplications(db, stored)).supplied };
  const readExceptions = (): AsyncIterable<LedgerCompany> => readListed(db, migration);
  if (output.json) {
    await output.streamJson(
      {
        ...{ schema: 'ferry.exceptions/1', migrationId },
        withoutCredential: (await readLacking(db, migration)).matching,
        retried: (await readRetried(db, migration)).matching,
        retriedRemedies: await retriedJson(db, { migration, portal }),
        replacedApplication: (await readReplaced(db, migrationId)).matching,
        notMovedAtEnd: await countUnreached(db, stored),
      },
      'exceptions',
      exceptionsJson(migration, portal, readExceptions()),
    );
    return { written: true };
  }
  const { limits, now } = await readLimits(db, migrationId);
  const opening = { windows: limits.windows, now, paused: migration.paused };
  let count = 0;
  for (const [key, group] of await readGroups(migration, readExceptions())) {
    await printGroup(output, { migration, portal }, opening, group, () => ofGroup(migration, key, readExceptions()));
    count += group.companies;
  }
  const lacking = await readLacking(db, migration);
  printLacking(output, { migration, portal }, lacking);
  const replaced = await readReplaced(db, migrationId);
  await printReplaced(output, { db, migrationId }, replaced);
  const retried = await readRetried(db, migration);
  await printRetried(output, db, { migration, portal }, retried, opening);
  const unreached = await countUnreached(db, stored);
  const total = [
    ...(count === 0 ? [] : [counted(count, 'exception')]),
    ...(lacking.matching === 0 ? [] : [`${counted(lacking.matching, 'company')} without a usable credential`]),
    ...(replaced.matching === 0 ? [] : [`${counted(replaced.matching, 'company')} with a replaced application`]),
    ...(unreached === 0 ? [] : [`${counted(unreached, 'company')} not moved before the migration ended`]),
  ];
  if (total.length > 0) output.line(total.join(', '));
  else if (retried.matching === 0) output.line('No exceptions.');
  if (unreached > 0)
    output.line(
      `Companies that were still waiting when the migration ended are no exceptions. To list all companies that were not moved, run: ferry companies ${migrationId} --state not-moved`,
    );
  if (count > 0 && stage !== 'open') output.line(endText(migration));
  return { written: true };
}

/** Says that no remedy is possible any more, and what can be done instead. */
function endText({ id, stage, ending }: ListedMigration): string {
  const report = `To see what each company needs, run: ferry report ${id}`;
  return stage === 'terminated'
    ? `The workflow has ended in Temporal, so no company moves and no decision is accepted. To close the migration, run: ferry sweep --close. ${report}`
    : `The migration is ${ending ?? 'closed'} and accepts no more decisions. ${report}`;
}

/** Reads the exceptions. Once the workflow has ended in Temporal, no deferred company is tried again. */
async function* readListed(db: Database, { id, stage }: ListedMigration): AsyncGenerator<LedgerCompany> {
  for await (const company of readCompanies(db, id, { exceptions: true }))
    yield stage === 'open' ? company : { ...company, deferred: false, retryAt: null };
}

/**
 * The maximum number of companies to print of each kind that is not an exception: those without a usable credential,
 * and those that wait for their next try.
 */
const OTHERS_SHOWN = 10;

type FirstCompanies = Awaited<ReturnType<typeof readCompanyPage>>;

const NO_COMPANIES: FirstCompanies = { companies: [], matching: 0 };

/** Reads the companies that need a credential; none once no company can move. */
async function readLacking(db: Database, { id, stage }: ListedMigration): Promise<FirstCompanies> {
  if (stage !== 'open') return NO_COMPANIES;
  return readCompanyPage(db, id, { withoutCredential: true }, { offset: 0, limit: OTHERS_SHOWN });
}

/** Reads the companies that will be tried again; none once no company can move. */
async function readRetried(db: Database, { id, stage }: ListedMigration): Promise<FirstCompanies> {
  if (stage !== 'open') return NO_COMPANIES;
  return readCompanyPage(db, id, { retried: true }, { offset: 0, limit: OTHERS_SHOWN });
}

/** Counts the companies that were still waiting when the migration ended, and that have no problem of their own. */
async function countUnreached(db: Database, { id, state }: StoredMigration): Promise<number> {
  if (state !== 'closed') return 0;
  const filter = { states: ['waiting'], exceptions: false } as const;
  return (await readCompanyPage(db, id, filter, { offset: 0, limit: 0 })).matching;
}

function readReplaced(db: Database, migrationId: string): Promise<FirstCompanies> {
  return readCompanyPage(db, migrationId, { replacedApplication: true }, { offset: 0, limit: OTHERS_SHOWN });
}

/** Prints the companies that depend on a replaced application, with the links with which they reconnect. */
async function printReplaced(
  output: Output,
  { db, migrationId }: { readonly db: Database; readonly migrationId: string },
  { companies, matching }: FirstCompanies,
): Promise<void> {
  if (matching === 0) return;
  output.line(
    `${output.styled('bold', 'moved with an application that was replaced')}: ${counted(matching, 'company')}`,
  );
  const applications = await readReplacedApplications(db, migrationId);
  if (applications) for (const each of applications.replaced) output.line(`  ${replacedText(each, applications)}`);
  for (const { reference, linkUrl } of companies)
    output.line(
      linkUrl === null
        ? `  ${reference} has no link in the ledger; look up its link at the service`
        : `  ${reference} reconnects at ${linkUrl}`,
    );
  if (matching > companies.length) {
    const more = (matching - companies.length).toLocaleString('en-US');
    output.line(`  and ${more} more; list all with: ferry companies ${migrationId} --replaced-application`);
  }
  output.line();
}

/**
 * Prints the companies that wait for their next try, with the commands that apply until then. Otherwise, a company
 * would vanish from the output as soon as a person retries it.
 */
async function printRetried(
  output: Output,
  db: Database,
  target: Target,
  { companies, matching }: FirstCompanies,
  opening: Opening,
): Promise<void> {
  if (matching === 0) return;
  const { id } = target.migration;
  const when = retriedAt(opening);
  for (const { reference, name } of companies) output.line(`${reference} ${name} will be tried again ${when}`);
  if (matching > companies.length) {
    const more = (matching - companies.length).toLocaleString('en-US');
    output.line(
      `  and ${more} more; they are among the companies that this command lists: ` +
        `ferry companies ${id} --state not-moved-yet`,
    );
  }
  // A company that is tried now is claimed before anyone could decide.
  if (when === 'now') return;
  const found = await readRetriedRemedies(db, target);
  if (found.length > 0) output.line('  Until the next try, you can still decide differently:');
  for (const { remedy, companies: count, references, command } of found) {
    const others = otherReferencesText(command, references, count);
    output.line(`  ${command}`);
    output.line(`      ${remedyText(remedy)}${others === null ? '' : `; ${others}`}`);
  }
  output.line();
}

function retriedAt({ windows, now, paused }: Opening): string {
  return paused ? 'once the migration is resumed' : nextDueTryText(windows, now.toISOString(), localTime);
}

/** A remedy of companies that wait for their next try. */
interface RetriedRemedy extends Pick<ExceptionGroup, 'companies' | 'references'> {
  readonly remedy: Remedy;
  readonly command: string;
}

/** Reads all companies that wait for their next try, because the commands name more of them than are printed. */
async function readRetriedRemedies(db: Database, target: Target): Promise<readonly RetriedRemedy[]> {
  const { migration } = target;
  const groups = new Map<Remedy, { companies: number; readonly references: string[] }>();
  for await (const company of readCompanies(db, migration.id, { retried: true }))
    for (const remedy of remediesNow(company, migration)) {
      const group = groups.get(remedy) ?? { companies: 0, references: [] };
      group.companies += 1;
      if (group.references.length <= MAX_REFERENCES_IN_A_COMMAND) group.references.push(company.reference);
      groups.set(remedy, group);
    }
  return [...groups].map(([remedy, group]) => ({
    ...{ remedy, ...group },
    command: commandFor(remedy, target, group.references),
  }));
}

/** Returns the commands for the companies that wait for their next try; none if they are tried now. */
async function retriedJson(db: Database, target: Target): Promise<readonly object[]> {
  const { id, paused, stage } = target.migration;
  if (stage !== 'open') return [];
  const { limits, now } = await readLimits(db, id);
  if (retriedAt({ windows: limits.windows, now, paused }) === 'now') return [];
  return (await readRetriedRemedies(db, target)).map(({ remedy, companies, command }) => ({
    ...{ remedy, does: remedyText(remedy), companies, command },
  }));
}

/** Prints the companies that could be moved, but have no usable credential. */
function printLacking(output: Output, { migration, portal }: Target, { companies, matching }: FirstCompanies): void {
  if (matching === 0) return;
  output.line(`${output.styled('bold', 'without a usable credential')}: ${counted(matching, 'company')}`);
  output.table(
    [{ title: 'Reference', unbroken: true }, { title: 'Name' }, { title: 'What is missing' }],
    companies.map((company) => [company.reference, company.name, missingCredentialText(company) ?? '']),
  );
  if (matching > companies.length) {
    const more = (matching - companies.length).toLocaleString('en-US');
    output.line(`  and ${more} more; list all with: ferry companies ${migration.id} --without-credential`);
  }
  const references = matching > companies.length ? [] : companies.map(({ reference }) => reference);
  output.line(`  ${clientCommand(`ferry credentials ${migration.id} credentials.csv ${BY_CLIENT}`, portal)}`);
  output.line(
    `      supply credentials${migration.rotating ? ' that the client exported after its confirmation' : ''}`,
  );
  if (references.length > 0) {
    output.line(`  ${clientCommand(remedyCommand('exclude', migration, references), portal)}`);
    output.line(`      ${remedyText('exclude')}`);
  }
  output.line();
}

async function* exceptionsJson(
  migration: ListedMigration,
  portal: string | null,
  found: AsyncIterable<LedgerCompany>,
): AsyncGenerator {
  for await (const company of found) {
    const remedies = remediesNow(company, migration).map((remedy) => ({
      remedy,
      does: remedyText(remedy),
      command: commandFor(remedy, { migration, portal }, [company.reference]),
    }));
    yield { ...companyJson(company, migration.stage !== 'open'), remedies };
  }
}

/**
 * Returns the command for a remedy. After step 1, the portal offers another application only while the migration is
 * paused because its application was refused, so support registers it.
 */
function commandFor(remedy: Remedy, { migration, portal }: Target, references: readonly string[]): string {
  const command = remedyCommand(remedy, migration, references);
  return portal !== null && remedy === 'application' ? command.replace(AS_CLIENT, '') : clientCommand(command, portal);
}

async function readGroups(
  migration: ListedMigration,
  found: AsyncIterable<LedgerCompany>,
): Promise<ReadonlyMap<string, ExceptionGroup>> {
  const groups = new Map<string, ExceptionGroup>();
  for await (const company of found) {
    const key = groupKeyOf(migration, company);
    const { companies, references } = groups.get(key) ?? { companies: 0, references: [] };
    groups.set(key, {
      title: titleOf(company, migration),
      remedies: remediesNow(company, migration),
      companies: companies + 1,
      references: references.length > MAX_REFERENCES_IN_A_COMMAND ? references : [...references, company.reference],
    });
  }
  return groups;
}

function groupKeyOf(migration: ListedMigration, company: LedgerCompany): string {
  return [titleOf(company, migration), ...remediesNow(company, migration)].join('/');
}

async function* ofGroup(
  migration: ListedMigration,
  key: string,
  found: AsyncIterable<LedgerCompany>,
): AsyncGenerator<LedgerCompany> {
  for await (const company of found) if (groupKeyOf(migration, company) === key) yield company;
}

function titleOf(
  { state, failure, deferred, heldBack, linkUrl, crossedAt }: LedgerCompany,
  { stage }: ListedMigration,
): string {
  // Companies with the same failure but other remedies form a group of their own, so its title says why.
  if (failure === 'reauthorization-required' && state === 'failed') {
    const retry = crossedAt === null ? '' : ' (the service accepted its credential earlier, so a retry does not help)';
    return failureText(failure) + (linkUrl === null ? ' (no link to reconnect)' : retry);
  }
  if (failure !== null)
    return failureText(failure) + (deferred && state === 'waiting' ? ' (it is tried again automatically)' : '');
  if (deferred) return 'deferred by the service or the platform; retried automatically';
  if (state !== 'waiting') return 'it is unknown whether the credential was used';
  if (heldBack !== null) return 'held back by the preflight';
  return `not moved when the migration ${stage === 'terminated' ? 'was stopped' : 'ended'}`;
}

async function printGroup(
  output: Output,
  { migration, portal }: Target,
  opening: Opening,
  { title, remedies, companies, references }: ExceptionGroup,
  readGroup: () => AsyncIterable<LedgerCompany>,
): Promise<void> {
  output.line(`${output.styled('bold', title)}: ${counted(companies, 'company')}`);
  await output.streamTable(
    [
      { title: 'Reference', unbroken: true },
      { title: 'Name' },
      { title: 'What happened' },
      { title: 'Correlation id' },
    ],
    cellsOf(readGroup(), opening),
  );
  // After the migration has ended, the service still accepts an end customer who reconnects.
  if (remedies.includes('relink') || migration.stage !== 'open') {
    for await (const company of readGroup()) {
      if (remediesFor(company).includes('relink'))
        await output.stream(`  ${company.reference} reconnects at ${company.linkUrl}`);
    }
  }
  if (migration.stage === 'open' && migration.route === 'managed' && migration.released === 'first-company')
    output.line(`  To choose another first company, or to see what else you can do, run: ferry show ${migration.id}`);
  for (const remedy of remedies) {
    const command = commandFor(remedy, { migration, portal }, references);
    const others = otherReferencesText(command, references, companies);
    output.line(`  ${command}`);
    output.line(`      ${remedyText(remedy)}${others === null ? '' : `; ${others}`}`);
  }
  output.line();
}

async function* cellsOf(found: AsyncIterable<LedgerCompany>, opening: Opening): AsyncGenerator<readonly TableCell[]> {
  for await (const company of found) {
    yield [company.reference, company.name, whatHappened(company, opening), company.correlationId ?? ''];
  }
}

function whatHappened(company: LedgerCompany, opening: Opening): string {
  const { failureText, retryAt, tries, relinkingSince } = company;
  const what = failureText ?? heldBackForSupport(company) ?? '';
  if (relinkingSince !== null) return `${what} (waiting for the end customer since ${localTime(relinkingSince)})`;
  return retryAt === null ? what : `${what} (tried ${counted(tries, 'time')}; ${nextTryText(retryAt, opening)})`;
}

/** Describes the next try, which begins when the company's delay has passed, a window is open, and no pause is on. */
function nextTryText(retryAt: Date, { windows, now, paused }: Opening): string {
  if (paused) return 'next try once the migration is resumed';
  const due = retryAt > now ? retryAt : now;
  const at = nextMove(windows, due.toISOString());
  if (at === null) return 'next try in the next window';
  return Date.parse(at) > now.getTime() ? `next try ${localTime(at)}` : 'next try is due now';
}
