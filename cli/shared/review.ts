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

import { printEvidence } from '../commands/view/show';

/** What somebody is about to decide about, and the digest by which the migration knows that it was just this. */
export interface Review {
  readonly step: Step;
  readonly digest: string;
  print(output: Output): void;
}

/** More would scroll the question away; all of them are in `ferry companies`. */
const MOST_SHOWN = 20;

/**
 * What there is to see of a step before it is approved.
 *
 * @param most so many companies are shown
 */
export async function readReview(
  ferry: MigrationClient,
  progress: Progress,
  step: Step,
  most: number = MOST_SHOWN,
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
    output.line(`  ${counted(preflight.companies, 'company')}, supplied by ${preflight.suppliedBy ?? 'nobody'}`);
    output.line(`  Manifest: sha256 ${preflight.manifestDigest ?? 'none'}`);
    for (const problem of preflight.problems) output.line(`  ${output.styled('red', '✗')} ${problem}`);
  },
  schedule: (output, { proposal, windows }) => {
    if (!proposal) return output.line('  No time has been proposed yet.');
    output.line(`  Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
    output.line(`  Companies are started ${windowsText(windows)}`);
  },
  'update-application': (output, { preflight }) =>
    output.line(`  Callback URL: ${preflight?.callbackUrl ?? 'not known yet'}`),
  'disable-syncing': (output, { counts }) =>
    output.line(`  ${counts.unconfirmed} of ${counted(counts.total, 'company')} not yet confirmed as disabled`),
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

/** None, where the ledger cannot be read: their number stands in the counts. */
async function readNotMoved({ db }: MigrationClient, migrationId: string): Promise<readonly LedgerCompany[]> {
  if (!db) return [];
  const notMoved: LedgerCompany[] = [];
  const states = ['failed', 'outcome-unknown', 'skipped', 'excluded'] as const;
  for await (const company of readCompanies(db, migrationId, { states })) notMoved.push(company);
  return notMoved;
}
