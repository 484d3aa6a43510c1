import type { CompanyState } from '../../domain/company-state';
import { COMPANY_STATES } from '../../domain/company-state';
import type { CompanyFilter, LedgerCompany } from '../../store';
import { readCompanies } from '../../store';
import { CommandFailed } from '../command-failed';
import type { Ferry } from '../ferry';
import { readCounts } from '../ferry';
import type { Screen, Shown, TableCell } from '../screen';
import { nearest } from '../spelling';
import { counted } from '../../domain/words';
import type { Context } from './context';
import { withFerry } from './with-ferry';

/** `ferry companies`: how far each company is and what went wrong. */
export function addCompanies({ program, run, screen, terminal }: Context): void {
  program
    .command('companies <migration>')
    .description('List the companies of a migration: how far each is, and what went wrong')
    .option('--state <state>', `only those: ${COMPANY_STATES.join(', ')}`)
    .action((migration: string, { state }: { state?: string }) =>
      run(() => {
        const filter = filterOf(state);
        return withFerry(terminal.env, (ferry) => companies(screen, ferry, migration, filter));
      }),
    );
}

/** Written while they are read: there may be any number of them. */
async function companies(screen: Screen, ferry: Ferry, migrationId: string, filter: CompanyFilter): Promise<Shown> {
  await readCounts(ferry, migrationId);
  const found = (): AsyncIterable<LedgerCompany> => readCompanies(ferry.db, migrationId, filter);
  if (screen.json) await screen.flowJson({ schema: 'ferry.companies/1', migrationId }, 'companies', found());
  else await print(screen, found);
  return { shown: true };
}

async function print(screen: Screen, found: () => AsyncIterable<LedgerCompany>): Promise<void> {
  let count = 0;
  let links = 0;
  async function* rows(): AsyncGenerator<readonly TableCell[]> {
    for await (const company of found()) {
      count += 1;
      if (mayConnectAgain(company)) links += 1;
      const { reference, name, state, failureText, heldBack, confirmedAt } = company;
      const whyWaiting = state === 'waiting' ? (heldBack ?? (confirmedAt ? '' : 'not confirmed as disabled')) : '';
      yield [reference, name, coloured(state), failureText ?? whyWaiting];
    }
  }
  await screen.flowTable(
    [{ title: 'Reference', whole: true }, { title: 'Name' }, { title: 'State' }, { title: 'What happened' }],
    rows(),
  );
  if (links > 0) await printLinks(screen, found());
  screen.line(counted(count, 'company'));
}

async function printLinks(screen: Screen, found: AsyncIterable<LedgerCompany>): Promise<void> {
  for await (const company of found) {
    if (mayConnectAgain(company)) await screen.flow(`  ${company.reference} connects again at ${company.linkUrl}`);
  }
}

function mayConnectAgain({ failure, linkUrl }: LedgerCompany): boolean {
  return failure === 'reauthorization-required' && linkUrl !== null;
}

function coloured(state: CompanyState) {
  if (state === 'migrated') return { text: state, style: 'green' as const };
  return state === 'failed' || state === 'outcome-unknown' ? { text: state, style: 'red' as const } : state;
}

function filterOf(text: string | undefined): CompanyFilter {
  if (text === undefined) return {};
  const state = COMPANY_STATES.find((each) => each === text);
  if (state) return { states: [state] };
  const near = nearest(text, COMPANY_STATES);
  throw new CommandFailed(
    `there is no state ${text}`,
    near === undefined ? `the states are: ${COMPANY_STATES.join(', ')}` : `did you mean ${near}?`,
  );
}
