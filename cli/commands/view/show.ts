import { isOfApplication } from '../../../domain/companies/finding';
import type { ApplicationsOfMoved } from '../../../domain/preflight/applications';
import { isEnding } from '../../../domain/migration/migration-state';
import { isOver } from '../../../domain/migration/terminated';
import { meanwhileTask, withKeysToConfirm } from '../../../domain/progress/meanwhile';
import { actualWaitingFor, withReconciledLedger } from '../../../domain/progress/ledger-behind';
import { firstOpening } from '../../../domain/progress/first-opening';
import type { Progress } from '../../../domain/progress/progress';
import {
  countInterrupted,
  listInvitations,
  readApplications,
  readChangedSinceSignOff,
  readReplacedApplications,
  readCompanyPage,
  readConfirmers,
  readKeyFingerprint,
  readLimits,
  readNextTry,
  readOverviews,
  readSuggestedCompanies,
  type Database,
} from '../../../store';
import { isLedgerBehindProgress, readRetries, readProgress, type LedgerClient } from '../../../client';
import { shownForecast } from '../../reporting/migration-end';
import { retryTexts } from '../../reporting/retries';
import { readSchedule } from '../../reporting/paused-windows';
import { printMigration, type Deferred, type MigrationFindings } from '../../reporting/migration-summary';
import type { CommandResult } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { readChosenFirst } from '../../shared/chosen-first';
import { clientPageOf } from '../../connections/client-page';
import { bySupport, MAX_REFERENCES_IN_A_CONFIRMATION, type NextCommand } from '../../suggestions/remedy-commands';
import { readSigningPortal, throughPortal } from '../../connections/client-portal';
import { isUnconfirmed, keyConfirmations } from '../../shared/invitations';
import { nextCommands, NO_COMPANIES, type NamedInCommands } from '../../suggestions/next-commands';
import { inParallel } from '../../connections/waiting';
import { readFromLedger, withMigrationClient } from '../../connections/clients';
import { MAX_CONFIRMERS } from '../../reporting/steps-table';

interface ShowOptions {
  readonly evidence?: true;
}

export function addShow({ program, run, terminal }: Context): void {
  program
    .command('show <migration>')
    .description('Show one migration: steps, companies, evidence, who must act, and the next commands')
    .option(
      '--evidence',
      'list every check of the first company, with its correlation id if it has one, and the warnings about the supplied details; during an automatic pause, also the steps',
    )
    .action((migration: string, options: ShowOptions) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const { db } = ferry;
          const [recorded, retries, findings] = await inParallel(
            readProgress(ferry, migration),
            readRetries(ferry, migration),
            db ? readLedgerFindings({ ...ferry, db }, migration) : NO_LEDGER,
          );
          const { progress: current, schedule } = await readSchedule(ferry, recorded);
          // Queries the workflow. Not in parallel with the first query, because a worker that cannot replay the
          // workflow answers only one of several pending queries.
          const ledgerBehind =
            db === undefined || findings.notInLedger ? null : await isLedgerBehindProgress({ ...ferry, db }, current);
          const progress = ledgerBehind === false ? withReconciledLedger(current) : current;
          const chosenFirst = db ? await readChosenFirst(db, progress) : null;
          const companies = db ? await readForNextCommands(db, progress) : NO_COMPANIES;
          const changedSinceSignOff = db ? await readChangedSinceSignOff(db, progress) : null;
          const now = new Date();
          const portal = await readSigningPortal(ferry, progress);
          const named = {
            ...{ ...companies, applicationsOfMoved: findings.applications },
            ...{ areWindowsPaused: schedule.windowsPaused !== null, isInPortal: portal !== null },
          };
          const invitations =
            db && !isOver(progress.state) && !ledgerBehind ? await listInvitations(db, migration) : [];
          const next = ledgerBehind
            ? [bySupport(`ferry reconcile ${migration}`)]
            : findings.notInLedger
              ? []
              : isEnding(progress.state)
                ? [report(progress)]
                : [...keyConfirmations(invitations), ...throughPortal(nextCommands(progress, named, now), portal)];
          const clientPage = await clientPageOf(terminal.env, ferry, migration);
          return showResult(
            progress,
            {
              ...findings,
              deferred: isOver(progress.state) && db ? NOT_TRIED_AGAIN : findings.deferred,
              ...{ chosenFirst, changedSinceSignOff },
              keysToConfirm: invitations.filter(isUnconfirmed).map(({ person }) => person),
              ...schedule,
              ledgerBehind: ledgerBehind ?? false,
              retriedErrors: retries.map(({ error }) => error),
              retryTexts: await retryTexts(ferry, migration, retries, localTime),
              next,
              clientPage,
            },
            options,
            now,
          );
        }),
      ),
    );
}

async function readDeferred(db: Database, migrationId: string): Promise<Deferred> {
  const first = { offset: 0, limit: MAX_REFERENCES_IN_A_CONFIRMATION };
  const { companies, matching } = await readCompanyPage(db, migrationId, { deferred: true }, first);
  const references = companies.map(({ reference }) => reference);
  return { companies: matching, references, nextTryAt: matching === 0 ? null : await readNextTry(db, migrationId) };
}

type LedgerFindings = Pick<
  MigrationFindings,
  'interrupted' | 'deferred' | 'applications' | 'keyFingerprint' | 'confirmedBy' | 'limits' | 'live' | 'notInLedger'
>;

const NO_LEDGER: LedgerFindings = {
  ...{ interrupted: null, deferred: null, applications: null, keyFingerprint: null, confirmedBy: null },
  ...{ limits: null, live: null, notInLedger: false },
};

/** After the end, no deferred company is tried again. */
const NOT_TRIED_AGAIN: Deferred = { companies: 0, references: [], nextTryAt: null };

const NONE_REPLACED: ApplicationsOfMoved = { moved: [], replaced: [], registered: null };

/**
 * Sends one SQL query after another, because opening another connection to the ledger takes longer than these queries.
 */
async function readLedgerFindings(ferry: LedgerClient, migrationId: string): Promise<LedgerFindings> {
  const { db } = ferry;
  const interrupted = await countInterrupted(db, migrationId);
  const deferred = await readDeferred(db, migrationId);
  const applications = (await readReplacedApplications(db, migrationId)) ?? NONE_REPLACED;
  const confirmedBy = await readConfirmers(db, migrationId, MAX_CONFIRMERS);
  const keyFingerprint = await readKeyFingerprint(db, migrationId, ferry.providerFingerprint);
  const notInLedger = (await readFromLedger(ferry, migrationId)) === null;
  const limits = notInLedger ? null : (await readLimits(db, migrationId)).limits;
  const [live = null] = await readOverviews(db, [migrationId]);
  return { interrupted, deferred, applications, confirmedBy, keyFingerprint, limits, live, notInLedger };
}

/** Reads the companies and applications that the next commands contain; `NO_COMPANIES` if they contain neither. */
async function readForNextCommands(db: Database, progress: Progress): Promise<NamedInCommands> {
  const { migrationId, client, step, counts, firstCompany, requestedFirst, preflight } = progress;
  if (step === 'supply-details') {
    const isNeeded = preflight?.problemCodes.some(isOfApplication) ?? false;
    if (!isNeeded) return NO_COMPANIES;
    return { ...NO_COMPANIES, applications: await readApplications(db, { id: migrationId, client }) };
  }
  if (counts.unconfirmed === 0 && step !== 'migrate-first-company') return NO_COMPANIES;
  return readSuggestedCompanies(db, migrationId, (firstCompany ?? requestedFirst)?.reference ?? null);
}

/** Returns the command that prints the final outcome of every company. */
const report = ({ migrationId, route }: Progress): NextCommand => ({
  who: route === 'self-service' ? 'client' : 'support',
  command: `ferry report ${migrationId}`,
});

/** Returns the fields that differ while the ledger is behind: no company can move, and only support has to act. */
function whileLedgerBehind(progress: Progress, { deferred }: Pick<MigrationFindings, 'deferred'>) {
  return {
    waitingFor: actualWaitingFor(progress, true),
    deferred: deferred && { ...deferred, nextTryAt: null },
    ...{ firstOpening: null, meanwhile: null },
  };
}

function showResult(
  progress: Progress,
  findings: MigrationFindings,
  { evidence }: ShowOptions,
  now: Date,
): CommandResult {
  const {
    retriedErrors,
    retryTexts: _texts,
    applications,
    live: _live,
    notInLedger: _notInLedger,
    chosenFirst: _,
    keysToConfirm,
    isBatchRunning: _run,
    ...shown
  } = findings;
  return {
    json: {
      ...{ schema: 'ferry.show/1', ...progress, retrying: retriedErrors, ...shown },
      replacedApplications: applications?.replaced ?? null,
      forecast: shownForecast(progress, findings, now),
      ...(shown.ledgerBehind
        ? whileLedgerBehind(progress, shown)
        : {
            firstOpening: firstOpening(progress, now.toISOString()),
            meanwhile: withKeysToConfirm(meanwhileTask(progress), keysToConfirm),
          }),
    },
    print: (output) => printMigration(output, progress, findings, { inFull: evidence ?? false, now }),
  };
}
