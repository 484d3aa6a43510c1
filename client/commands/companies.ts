import type { CompanyState } from '../../domain/company-state';
import { COMPANY_STATES } from '../../domain/company-state';
import type { LedgerCompany } from '../../store';
import { readCompanies } from '../../store';
import { CommandFailed } from '../command-failed';
import { readCounts } from '../ferry';
import type { CommandResult, Screen } from '../screen';
import { nearest } from '../spelling';
import { counted } from '../../domain/words';
import type { Context } from './context';
import { withFerry } from './with-ferry';

/** `ferry companies`: how far each company is and what went wrong. */
export function addCompanies({ program, run, terminal }: Context): void {
  program
    .command('companies <migration>')
    .description('List the companies of a migration: how far each is, and what went wrong')
    .option('--state <state>', `only those: ${COMPANY_STATES.join(', ')}`)
    .action((migration: string, { state }: { state?: string }) =>
      run(() => companies(terminal.env, migration, stateOf(state))),
    );
}

async function companies(
  env: NodeJS.ProcessEnv,
  migrationId: string,
  state: CompanyState | undefined,
): Promise<CommandResult> {
  const found: LedgerCompany[] = [];
  await withFerry(env, async (ferry) => {
    await readCounts(ferry, migrationId);
    for await (const company of readCompanies(ferry.db, migrationId, state === undefined ? {} : { states: [state] })) {
      found.push(company);
    }
  });
  return {
    json: { schema: 'ferry.companies/1', migrationId, companies: found },
    print: (screen) => {
      screen.table(
        [{ title: 'Reference', whole: true }, { title: 'Name' }, { title: 'State' }, { title: 'What happened' }],
        found.map(({ reference, name, state: company, failureText, heldBack, confirmedAt }) => [
          reference,
          name,
          coloured(company),
          failureText ?? (company === 'waiting' ? (heldBack ?? (confirmedAt ? '' : 'not confirmed as disabled')) : ''),
        ]),
      );
      printLinks(screen, found);
      screen.line(counted(found.length, 'company'));
    },
  };
}

function printLinks(screen: Screen, found: readonly LedgerCompany[]): void {
  const links = found.filter(({ failure, linkUrl }) => failure === 'reauthorization-required' && linkUrl);
  for (const { reference, linkUrl } of links) screen.line(`  ${reference} connects again at ${linkUrl}`);
}

function coloured(state: CompanyState) {
  if (state === 'migrated') return { text: state, style: 'green' as const };
  return state === 'failed' || state === 'outcome-unknown' ? { text: state, style: 'red' as const } : state;
}

function stateOf(text: string | undefined): CompanyState | undefined {
  if (text === undefined) return undefined;
  const state = COMPANY_STATES.find((each) => each === text);
  if (state) return state;
  const near = nearest(text, COMPANY_STATES);
  throw new CommandFailed(
    `there is no state ${text}`,
    near === undefined ? `the states are: ${COMPANY_STATES.join(', ')}` : `did you mean ${near}?`,
  );
}
