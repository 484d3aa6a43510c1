import type { Progress } from '../../domain/progress/progress';
import type { Step } from '../../domain/migration/steps';
import { STEP_RULES } from '../../domain/migration/steps';
import { windowsText } from '../../presentation/wording/windows';
import { counted } from '../../domain/text/sentences';
import type { LedgerCompany } from '../../store';
import { readCompanies } from '../../store';
import type { MigrationClient } from '../../client';
import type { Output } from '../terminal';
import { localTime } from '../terminal/times';
import { printEvidence } from './results';

/** Everything that a person should see before deciding about a step. */
export interface Review {
  readonly step: Step;
  /** Identifies exactly this content: the migration refuses an approval whose digest is out of date. */
  readonly digest: string;
  print(output: Output): void;
}

/** More companies would scroll the question off the screen. */
const COMPANIES_SHOWN = 20;

/**
 * Reads what there is to review before a step is approved.
 *
 * @param most number of companies to show
 */
export async function readReview(
  ferry: MigrationClient,
  progress: Progress,
  step: Step,
  most: number = COMPANIES_SHOWN,
): Promise<Review> {
  const notMoved = step === 'complete-migration' ? await readNotMoved(ferry, progress.migrationId) : [];
  return {
    step,
    digest: progress.digests[step],
    print: (output) => {
      output.line(output.styled('bold', `${STEP_RULES[step].title}, ${progress.migrationId}`));
      PRINTERS[step](output, progress, notMoved, most);
      output.line();
    },
  };
}

type Printer = (output: Output, progress: Progress, notMoved: readonly LedgerCompany[], most: number) => void;

const PRINTERS: Readonly<Record<Step, Printer>> = {
  'supply-details': (output, { preflight }) => {
    if (!preflight) return output.line('  The details are still being checked.');
    output.line(`  ${counted(preflight.companies, 'company')}, supplied by ${preflight.suppliedBy ?? 'unknown'}`);
    output.line(`  Manifest: sha256 ${preflight.manifestDigest ?? 'none'}`);
    for (const problem of preflight.problems) output.line(`  ${output.styled('red', '✗')} ${problem}`);
  },
  schedule: (output, { proposal, windows }) => {
    if (!proposal) return output.line('  No time has been proposed yet.');
    output.line(`  Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
    output.line(`  Companies are moved ${windowsText(windows)}`);
  },
  'update-application': (output, { preflight }) =>
    output.line(`  Callback URL: ${preflight?.callbackUrl ?? 'not known yet'}`),
  'disable-syncing': (output, { counts }) =>
    output.line(`  Syncing not confirmed off for ${counts.unconfirmed} of ${counted(counts.total, 'company')}`),
  'migrate-first-company': (output, progress) => printEvidence(output, progress),
  'complete-migration': (output, { counts, migrationId }, notMoved, most) => {
    output.line(`  ${counts.migrated} of ${counted(counts.total, 'company')} moved`);
    for (const { reference, name, state, failureText } of notMoved.slice(0, most)) {
      output.line(`  ${output.styled('yellow', reference)} ${name}: ${state}${failureText ? `, ${failureText}` : ''}`);
    }
    if (notMoved.length > most) {
      output.line(`  and ${notMoved.length - most} more; see them all with: ferry exceptions ${migrationId}`);
    }
  },
};

/** Returns an empty list without the ledger: the counts say how many there are. */
async function readNotMoved({ db }: MigrationClient, migrationId: string): Promise<readonly LedgerCompany[]> {
  if (!db) return [];
  const notMoved: LedgerCompany[] = [];
  const states = ['failed', 'outcome-unknown', 'skipped', 'excluded'] as const;
  for await (const company of readCompanies(db, migrationId, { states })) notMoved.push(company);
  return notMoved;
}
