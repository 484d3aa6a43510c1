import { reopenedText, type Progress } from '../../domain/progress/progress';
import { clientStateOf, notMovedText } from '../../domain/companies/company-state';
import { STEP_RULES, type Step } from '../../domain/migration/steps';
import { signOffAgainText } from '../../domain/progress/sign-off-changes';
import { reconnectionsText } from '../../presentation/wording/client-page';
import { windowsText } from '../../presentation/wording/windows';
import { counted, namedCompanies, outOf } from '../../domain/text/sentences';
import {
  readChangedSinceSignOff,
  readCompanies,
  readCompanyPage,
  readReplacedApplications,
  type LedgerCompany,
} from '../../store';
import type { MigrationClient } from '../../client';
import type { Output } from '../terminal/output';
import { inLocalTime, localTime } from '../terminal/times';
import {
  explanationOf,
  printApplication,
  printFirstCompany,
  printPreflight,
  printReplacedApplications,
} from './results';
import { CommandFailed } from './errors';
import { printFirstOpening } from '../options/start-times';
import { collected } from '../../domain/text/streams';

/** The content that a person should see before deciding on a step. */
export interface Review {
  readonly step: Step;
  /** Identifies this content. The migration refuses an approval if its digest is out of date. */
  readonly digest: string;
  /**
   * The companies of the handover that are being moved, for example because their end customers have just reconnected:
   * `1 company (E-3)`. Null if there are none.
   */
  readonly moving: string | null;
  /** @param listsEvidence true to list every check of the first company */
  print(output: Output, listsEvidence?: boolean): void;
}

/** Default maximum number of companies shown, because more would scroll the question off the screen. */
const COMPANIES_SHOWN = 20;

/** Reads the content to review before a decision on a step. */
export async function readReview(
  ferry: MigrationClient,
  progress: Progress,
  step: Step,
  maxCompanies: number = COMPANIES_SHOWN,
): Promise<Review> {
  const isHandover = step === 'complete-migration';
  const notMoved = isHandover ? await readNotMoved(ferry, progress.migrationId) : [];
  const moving = isHandover ? await readMoving(ferry, progress.migrationId) : null;
  const applications = isHandover && ferry.db ? await readReplacedApplications(ferry.db, progress.migrationId) : null;
  const changes = isHandover && ferry.db ? await readChangedSinceSignOff(ferry.db, progress) : [];
  return {
    step,
    digest: progress.digests[step],
    moving,
    print: (output, listsEvidence = false) => {
      output.line(output.styled('bold', `${STEP_RULES[step].title}, ${progress.migrationId}`));
      const reopened = progress.reopened?.step === step ? reopenedText(progress) : null;
      if (reopened !== null) output.line(`  ${output.styled('yellow', inLocalTime(reopened))}`);
      for (const change of changes)
        output.line(`  ${output.styled('yellow', inLocalTime(signOffAgainText(change, progress)))}`);
      if (step === 'migrate-first-company')
        printFirstCompany(output, progress, {
          inFull: listsEvidence,
          how: `ferry show ${progress.migrationId} --evidence`,
        });
      else PRINTERS[step](output, progress, notMoved, maxCompanies);
      if (moving !== null) output.line(`  Being moved now: ${moving}`);
      if (applications) printReplacedApplications(output, progress.migrationId, applications);
      output.line();
    },
  };
}

type Printer = (output: Output, progress: Progress, notMoved: readonly LedgerCompany[], maxCompanies: number) => void;

const PRINTERS: Readonly<Record<Exclude<Step, 'migrate-first-company'>, Printer>> = {
  'supply-details': (output, { preflight }) => {
    if (!preflight) return output.line('  The details are still being checked.');
    const { companies, suppliedBy, manifestDigest } = preflight;
    if (manifestDigest === null) output.line('  Manifest: none has been supplied');
    else {
      output.line(`  ${counted(companies, 'company')}, supplied by ${suppliedBy}`);
      output.line(`  Manifest: sha256 ${manifestDigest}`);
    }
    printApplication(output, preflight);
    printPreflight(output, preflight);
  },
  schedule: (output, progress) => {
    const { proposal, windows } = progress;
    if (!proposal) return output.line('  No time has been proposed yet.');
    output.line(`  Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
    printFirstOpening(output, progress, new Date().toISOString());
    output.line(`  Companies are moved ${windowsText(windows)}`);
  },
  'update-application': (output, { preflight }) =>
    output.line(`  Callback URL: ${preflight?.callbackUrl ?? 'not known yet'}`),
  'disable-syncing': (output, { counts: { unconfirmed, total } }) =>
    output.line(
      unconfirmed === 0
        ? '  No company is waiting for the confirmation that syncing is off'
        : `  For ${outOf(unconfirmed, total, 'company')}, the client has not confirmed that syncing is off`,
    ),
  'complete-migration': (output, { counts, migrationId, reconnections }, notMoved, maxCompanies) => {
    output.line(`  ${outOf(counts.moved, counts.total, 'company')} moved`);
    if (counts.mustReconnect > 0) {
      const checkedAt = reconnections?.checkedAt ?? null;
      const checked = reconnectionsText(checkedAt === null ? null : localTime(checkedAt));
      output.line(`  ${counted(counts.mustReconnect, 'company')} must reconnect. ${checked}`);
    }
    for (const company of notMoved.slice(0, maxCompanies)) {
      const { reference, name, state, failure } = company;
      const text = notMovedText(clientStateOf(state, failure), explanationOf(company));
      output.line(`  ${output.styled('yellow', reference)} ${name}: ${text}`);
    }
    if (notMoved.length > maxCompanies) {
      output.line(
        `  and ${notMoved.length - maxCompanies} more; list all companies with: ferry companies ${migrationId}`,
      );
    }
  },
};

/**
 * Checks that no company of the handover is being moved. The counts in the progress can be older than the ledger, and
 * the migration would refuse a sign-off with their digest.
 *
 * @throws CommandFailed
 */
export function assertNoneMoving({ step, moving }: Review, progress: Progress): void {
  if (moving === null || progress.step !== step) return;
  throw new CommandFailed(
    `the handover cannot be signed off while companies are being moved: ${moving}`,
    `nothing was decided; wait for the outcome with: ferry watch ${progress.migrationId} --until-decision`,
  );
}

/** Names the companies that are being moved; null if there are none, or without the ledger. */
async function readMoving({ db }: MigrationClient, migrationId: string): Promise<string | null> {
  if (!db) return null;
  const filter = { states: ['importing', 'syncing'] } as const;
  const { companies, matching } = await readCompanyPage(db, migrationId, filter, { offset: 0, limit: MOVING_NAMED });
  const references = companies.map(({ reference }) => reference);
  return matching === 0 ? null : namedCompanies(matching, references);
}

const MOVING_NAMED = 5;

/**
 * Reads the companies that were not moved; none without the ledger. The printed number of moved companies still shows
 * how many are missing.
 */
async function readNotMoved({ db }: MigrationClient, migrationId: string): Promise<readonly LedgerCompany[]> {
  if (!db) return [];
  const states = ['failed', 'outcome-unknown', 'skipped', 'excluded'] as const;
  return collected(readCompanies(db, migrationId, { states }));
}
