import { estimateBasisText, endText } from '../../../presentation/temporal-ui/current-details';
import { headline, pausedText } from '../../../domain/progress/progress';
import { duration, counted } from '../../../domain/text/sentences';
import type { Estimate } from '../../../domain/planning/estimate';
import type { ClientState } from '../../../domain/companies/company-state';
import { CLIENT_STATES, clientCounts } from '../../../domain/companies/company-state';
import type { Progress, StepProgress } from '../../../domain/progress/progress';
import { STEP_RULES, stepNumber } from '../../../domain/migration/steps';
import type { Database, Interrupted, NamedCompanies } from '../../../store';
import { countInterrupted, readCompanyPage, readNamedCompanies } from '../../../store';
import { isLedgerBehind, readRetriedErrors, readProgress } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { EVIDENCE_OPTION, printApplication, printFirstCompany, printPreflight } from '../../shared/results';
import { firstOpening, printFirstOpening } from '../../shared/start-times';
import { REFERENCES_IN_A_COMMAND } from '../../shared/remedy-commands';
import type { NextCommand } from '../../shared/next-commands';
import { nextCommands, NO_COMPANIES } from '../../shared/next-commands';
import { inParallel } from '../../shared/waiting';
import { clientPageOf } from '../../shared/client-page';
import { withMigrationClient } from '../../shared/clients';

interface ShowOptions {
  readonly evidence?: true;
}

export function addShow({ program, run, terminal }: Context): void {
  program
    .command('show <migration>')
    .description('Show one migration: steps, companies, evidence, who must act, and the next commands')
    .option(...EVIDENCE_OPTION)
    .action((migration: string, options: ShowOptions) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const { db } = ferry;
          const [progress, retriedErrors, findings] = await inParallel(
            readProgress(ferry, migration),
            readRetriedErrors(ferry, migration),
            db ? readLedgerFindings(db, migration) : NO_LEDGER,
          );
          // Queries the workflow again, and so not in parallel: a worker that cannot replay the workflow answers only
          // one of several queries that wait.
          const ledgerBehind = db !== undefined && (await isLedgerBehind({ ...ferry, db }, migration));
          const companies = db ? await readForNextCommands(db, progress) : NO_COMPANIES;
          const next = ledgerBehind ? [reconcile(migration)] : nextCommands(progress, companies, new Date());
          const clientPage = await clientPageOf(terminal.env, ferry, migration);
          return showResult(progress, retriedErrors, { ...findings, ledgerBehind, next, clientPage }, options);
        }),
      ),
    );
}

/** The deferred companies, which are retried automatically. */
interface Deferred {
  readonly companies: number;
  /** The references of the first companies. */
  readonly references: readonly string[];
}

async function readDeferred(db: Database, migrationId: string): Promise<Deferred> {
  const first = { offset: 0, limit: REFERENCES_IN_A_COMMAND };
  const { companies, matching } = await readCompanyPage(db, migrationId, { deferred: true }, first);
  return { companies: matching, references: companies.map(({ reference }) => reference) };
}

const LEDGER_BEHIND =
  'The ledger is out of date: it was probably restored from a backup. No company moves until it has been reconciled.';

/** The ledger's part of the view. Null without a ledger. */
interface LedgerFindings {
  readonly interrupted: Interrupted | null;
  readonly deferred: Deferred | null;
}

const NO_LEDGER: LedgerFindings = { interrupted: null, deferred: null };

/** One query after another, because another connection to the ledger takes longer than these queries. */
async function readLedgerFindings(db: Database, migrationId: string): Promise<LedgerFindings> {
  const interrupted = await countInterrupted(db, migrationId);
  return { interrupted, deferred: await readDeferred(db, migrationId) };
}

/** Reads nothing if no command names a company. */
async function readForNextCommands(db: Database, progress: Progress): Promise<NamedCompanies> {
  const { migrationId, step, counts, firstCompany, requestedFirst } = progress;
  if (counts.unconfirmed === 0 && step !== 'migrate-first-company') return NO_COMPANIES;
  return readNamedCompanies(db, migrationId, (firstCompany ?? requestedFirst)?.reference ?? null);
}

const reconcile = (migrationId: string): NextCommand => ({
  who: 'support',
  command: `ferry reconcile ${migrationId}`,
});

interface ShowFindings extends LedgerFindings {
  readonly ledgerBehind: boolean;
  readonly next: readonly NextCommand[];
  /** Null if no Web UI for clients is configured. */
  readonly clientPage: string | null;
}

function showResult(
  progress: Progress,
  retriedErrors: readonly string[],
  { interrupted, deferred, ledgerBehind, next, clientPage }: ShowFindings,
  { evidence }: ShowOptions,
): CommandResult {
  return {
    json: {
      ...{ schema: 'ferry.show/1', ...progress, retrying: retriedErrors },
      ...{ interrupted, deferred, ledgerBehind, next, clientPage },
      firstOpening: firstOpening(progress, new Date().toISOString()),
    },
    print: (output) => {
      output.line(`${output.styled('bold', progress.migrationId)}  ${headline(progress)}`);
      const paused = pausedText(progress);
      if (paused !== null) output.line(`Paused ${paused}`);
      output.line(ledgerBehind ? output.styled('yellow', LEDGER_BEHIND) : waitingText(progress));
      for (const failure of retriedErrors) output.line(output.styled('yellow', `Retrying: ${failure}`));
      output.line();
      if (progress.route !== 'self-service') {
        printSteps(output, progress.steps);
        output.line();
      }
      printFacts(output, progress);
      if (interrupted) printInterrupted(output, progress, interrupted);
      if (deferred) printDeferred(output, progress.migrationId, deferred);
      printFirstCompany(output, progress, evidence ?? false);
      if (clientPage !== null) output.line(`Client's page: ${clientPage}`);
      if (next.length > 0) {
        output.line();
        output.line(output.styled('bold', 'What to do next:'));
        for (const { who, command } of next) output.line(`  ${who}: ${command}`);
      }
    },
  };
}

function waitingText({ waitingFor: { roles, what } }: Progress): string {
  if (roles.length > 0) return `Waiting for ${roles.join(' and ')}: ${what}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
}

function printSteps(output: Output, steps: readonly StepProgress[]): void {
  output.table(
    [{ title: '' }, { title: 'Step' }, { title: 'State' }, { title: 'Since / ended' }, { title: 'Approved by' }],
    steps.map(({ step, state, openedAt, endedAt, approvals }) => [
      String(stepNumber(step)),
      STEP_RULES[step].title,
      state === 'open'
        ? { text: 'open', style: 'yellow' }
        : state === 'done'
          ? { text: 'done', style: 'green' }
          : state,
      endedAt ? localTime(endedAt) : openedAt && state === 'open' ? localTime(openedAt) : '',
      approvals.map(({ role, by }) => `${by} (${role})`).join(', '),
    ]),
  );
}

function printFacts(output: Output, progress: Progress): void {
  const { route, counts, estimate, proposal, preflight } = progress;
  output.line(`Companies: ${countsText(counts)}`);
  if (counts.unconfirmed > 0) output.line(`  ${counts.unconfirmed} without confirmation that syncing is off`);
  if (counts.withoutCredential > 0) {
    output.line(`  ${counts.withoutCredential} confirmed, but still without a usable credential`);
  }
  if (counts.heldBack > 0) output.line(`  ${counts.heldBack} held back until they are corrected or left out`);
  if (counts.outcomeUnknown > 0) output.line(`  ${counts.outcomeUnknown} whose outcome is unknown`);
  if (preflight) printPreflight(output, preflight);
  if (preflight) printApplication(output, preflight, '');
  // Omitted in self-service, where nobody adds the URL to an application.
  if (preflight?.callbackUrl && route !== 'self-service') output.line(`Callback URL: ${preflight.callbackUrl}`);
  if (estimate && estimate.volume.companies > 0) printEstimate(output, estimate, proposal !== null);
  if (proposal) output.line(`Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
  printFirstOpening(output, progress, new Date().toISOString());
}

function countsText(counts: Progress['counts']): string {
  const byState = clientCounts(counts);
  const otherStates = (Object.keys(CLIENT_STATES) as ClientState[]).flatMap((state) =>
    state === 'moved' || byState[state] === 0 ? [] : [`, ${byState[state]} ${CLIENT_STATES[state]}`],
  );
  return `${byState.moved} of ${counts.total} moved${otherStates.join('')}`;
}

function printInterrupted(output: Output, { state }: Progress, { companies, inFlightUntil }: Interrupted): void {
  if (companies === 0) return;
  const were = companies === 1 ? 'company was' : 'companies were';
  const until =
    inFlightUntil && `; a credential may still be in flight to the service until ${localTime(inFlightUntil)}`;
  const when = state === 'paused' ? 'when the migration is resumed, or sooner' : 'automatically';
  output.line(`${companies} ${were} interrupted while being moved; moving will continue ${when}${until ?? ''}`);
}

function printDeferred(output: Output, migrationId: string, { companies, references }: Deferred): void {
  if (companies === 0) return;
  const more = companies - references.length;
  const named = `${references.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  output.line(`${counted(companies, 'company')} deferred, retried automatically: ${named}`);
  output.line(`  to see why, and to retry now or leave them out: ferry exceptions ${migrationId}`);
}

function printEstimate(output: Output, estimate: Estimate, hasStart: boolean): void {
  const { volume, requests, lowMs, highMs, ends, staleHours } = estimate;
  const number = (count: number): string => count.toLocaleString('en-US');
  const records =
    volume.companiesWithoutVolume === volume.companies ? 'records unknown' : counted(volume.records, 'record');
  output.line(
    `Estimate: ${duration(lowMs)} to ${duration(highMs)} for ${counted(volume.companies, 'company')}, ${records}, ` +
      `${number(requests)} requests (${estimateBasisText(estimate)})`,
  );
  if (hasStart && ends) output.line(`  ${endText(localTime(ends.earliest), localTime(ends.latest))}`);
  if (staleHours !== null) output.line(`  up to ${counted(staleHours, 'hour')} without fresh data`);
  if (volume.largestFamily > 1) {
    output.line(
      `  ${counted(volume.largestFamily, 'company')} are moved one at a time, because their tokens can invalidate each other`,
    );
  }
}
