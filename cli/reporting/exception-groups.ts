/** Groups the exceptions of a migration by problem and remedies, and prints each group with its commands. */
import { NOT_CHECKED } from '../../domain/companies/company-state';
import { heldBackForSupport, notReadyText } from '../../domain/companies/credential-state';
import { inSupportWords } from '../../domain/companies/call-words';
import { failureText } from '../../domain/companies/failures';
import { remediesFor, type Remedy } from '../../domain/companies/remedies';
import { delayedTryText } from '../../domain/progress/retried';
import type { LedgerCompany } from '../../store';
import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';
import { counted } from '../../domain/text/sentences';
import { choiceText } from '../suggestions/first-company-commands';
import { MAX_REFERENCES_IN_A_COMMAND, remediesNow } from '../suggestions/remedy-commands';
import {
  commandFor,
  openingFor,
  printRemedy,
  type MigrationWithStage,
  type Target,
  type Opening,
} from './listed-migration';
import { mapped } from '../../domain/text/streams';

/** Companies with the same problem and the same remedies. */
export interface ExceptionGroup {
  readonly title: string;
  readonly remedies: readonly Remedy[];
  readonly companies: number;
  /**
   * The first references, up to one more than fit into a suggested command. The extra reference makes `remedyCommand`
   * suggest `--all` if the command has that option.
   */
  readonly references: readonly string[];
  /**
   * How to choose another first company, if the group contains the first company, and its move has failed or cannot
   * begin; null otherwise.
   */
  readonly anotherFirst: string | null;
}

/** Returns the groups by their key, in the order in which their exceptions were found. */
export async function readGroups(
  migration: MigrationWithStage,
  found: AsyncIterable<LedgerCompany>,
): Promise<ReadonlyMap<string, ExceptionGroup>> {
  const groups = new Map<string, ExceptionGroup>();
  for await (const company of found) {
    const key = groupKeyOf(migration, company);
    const { companies, references, anotherFirst } = groups.get(key) ?? NO_COMPANIES;
    groups.set(key, {
      title: titleOf(company, migration),
      remedies: remediesNow(company, migration),
      companies: companies + 1,
      references: references.length > MAX_REFERENCES_IN_A_COMMAND ? references : [...references, company.reference],
      anotherFirst: anotherFirst ?? anotherFirstText(migration, company),
    });
  }
  return groups;
}

const NO_COMPANIES = { companies: 0, references: [] as readonly string[], anotherFirst: null };

/**
 * Says how to choose another first company if this company is the first and has failed or has an unknown outcome, or
 * was requested to go first but is held back. Null otherwise, outside steps 4 and 5, and while the migration has
 * paused itself. In the first case, refers to `ferry show`, which suggests the command. In the second case, names the
 * command, because `ferry show` suggests it only once the agreed start has come and a window is open.
 */
function anotherFirstText(
  { id, route, released, firstRow, requestedFirst, stage, pausedItself }: MigrationWithStage,
  { row, reference, state, heldBack }: LedgerCompany,
): string | null {
  if (stage !== 'open' || route !== 'managed' || released !== 'first-company' || pausedItself) return null;
  if (firstRow === null)
    return reference === requestedFirst && state === 'waiting' && heldBack !== null && heldBack !== NOT_CHECKED
      ? `To choose another first company, ${choiceText(id, { as: 'support' })}`
      : null;
  return row === firstRow && (state === 'failed' || state === 'outcome-unknown')
    ? `To choose another first company, or to see what else you can do, run: ferry show ${id}`
    : null;
}

function groupKeyOf(migration: MigrationWithStage, company: LedgerCompany): string {
  return [titleOf(company, migration), ...remediesNow(company, migration)].join('/');
}

/** Returns the companies that belong to the group with this key. */
export async function* ofGroup(
  migration: MigrationWithStage,
  key: string,
  found: AsyncIterable<LedgerCompany>,
): AsyncGenerator<LedgerCompany> {
  for await (const company of found) if (groupKeyOf(migration, company) === key) yield company;
}

function titleOf(company: LedgerCompany, migration: MigrationWithStage): string {
  const { state, failure, deferred, heldBack, linkUrl, crossedAt } = company;
  const { stage, paused } = migration;
  const isUnchecked = state === 'waiting' && heldBack === NOT_CHECKED;
  if (isUnchecked && stage === 'open') return 'not checked by the preflight yet';
  // Companies with the same failure but other remedies form a group of their own, so its title says why.
  if (failure === 'reauthorization-required' && state === 'failed') {
    const retry =
      crossedAt === null ? '' : ` (the service accepted the credential earlier, ${retryText(company, migration)})`;
    return failureText(failure) + (linkUrl === null ? ' (no link to reconnect)' : retry);
  }
  // No company is retried during a pause. The list then says that it is tried once the migration is resumed.
  const isRetried = deferred && state === 'waiting' && !paused && notReadyText(company) === null;
  if (failure !== null) return failureText(failure) + (isRetried ? ' (retried automatically)' : '');
  if (deferred) return `deferred by the service or the platform${isRetried ? '; retried automatically' : ''}`;
  if (state !== 'waiting') return 'it is unknown whether the credential was used';
  if (heldBack !== null && !isUnchecked) return 'held back by the preflight';
  return `not moved when the ${stage === 'terminated' ? 'workflow ended in Temporal' : 'migration ended'}`;
}

/**
 * Says whether a retry can help if the grant of a company with a link has ended although its credential was accepted.
 * Only a retry of the first company before step 6 can: it finds out whether the end customer has reconnected.
 */
function retryText({ row }: LedgerCompany, { stage, released, firstRow }: MigrationWithStage): string {
  return stage === 'open' && released === 'first-company' && row === firstRow
    ? 'so a retry helps only once the end customer has reconnected'
    : 'so a retry does not help';
}

/** Prints the companies of a group, and the commands that resolve its problem. */
export async function printGroup(
  output: Output,
  { migration, portal }: Target,
  opening: Opening,
  { title, remedies, companies, references, anotherFirst }: ExceptionGroup,
  readGroup: () => AsyncIterable<LedgerCompany>,
): Promise<void> {
  output.line(`${output.styled('bold', title)}: ${counted(companies, 'company')}`);
  await output.streamTable(
    [{ title: 'Reference', unbroken: true }, 'Name', 'What happened', 'Correlation id'],
    mapped(readGroup(), (company) => [
      company.reference,
      company.name,
      whatHappened(company, openingFor(company, migration, opening)),
      company.correlationId ?? '',
    ]),
  );
  // The service also accepts an end customer who reconnects after the migration has ended, or before step 6, in which
  // only another try of the first company finds out about it.
  if (remedies.includes('relink') || migration.stage !== 'open' || migration.released !== 'all') {
    for await (const company of readGroup()) {
      if (remediesFor(company).includes('relink'))
        await output.stream(`  ${company.reference} reconnects at ${company.linkUrl}`);
    }
  }
  if (anotherFirst !== null) output.line(`  ${anotherFirst}`);
  for (const remedy of remedies)
    printRemedy(output, remedy, commandFor(remedy, { migration, portal }, references), {
      remedies,
      references,
      companies,
    });
  output.line();
}

const THIS_COMPANY = (): string => 'the company';

function whatHappened(company: LedgerCompany, opening: Opening): string {
  const { failureText, deferred, retryAt, tries, relinkingSince } = company;
  const failed = failureText === null ? null : inSupportWords(failureText, THIS_COMPANY);
  const what = failed ?? heldBackForSupport(company) ?? '';
  if (relinkingSince !== null) return `${what} (waiting for the end customer since ${localTime(relinkingSince)})`;
  const notReady = deferred ? notReadyText(company) : null;
  if (notReady !== null) return `${what} (tried ${counted(tries, 'time')}; it cannot be tried again yet: ${notReady})`;
  return retryAt === null
    ? what
    : `${what} (tried ${counted(tries, 'time')}; ${delayedTryText(retryAt, opening, opening.now, localTime)})`;
}
