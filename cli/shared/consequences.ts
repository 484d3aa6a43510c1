/**
 * Describes the effects of decisions, and whether they can be undone. Commands and the dashboard show them before they
 * ask for confirmation.
 */
import { clientStateText } from '../../domain/companies/company-state';
import { countOpen } from '../../domain/companies/counts';
import { withdrawalText } from '../../domain/decisions/withdrawals';
import type { Step } from '../../domain/migration/steps';
import { nextMove } from '../../domain/planning/windows';
import { earliestMove } from '../../domain/progress/first-opening';
import { isOver } from '../../domain/migration/terminated';
import { FAILURES_ACCEPTED, hasFailuresToAccept, type Progress } from '../../domain/progress/progress';
import { counted, outOf } from '../../domain/text/sentences';
import { automaticEndText } from '../../presentation/wording/client-task';
import { readCompanies, type Database } from '../../store';
import { localTime } from '../terminal/times';
import { referenceList } from './results';

const APPROVALS: Readonly<Partial<Record<Step, (progress: Progress | undefined, now: string) => string>>> = {
  schedule: (progress, now) => {
    const startAt = progress?.proposal?.startAt;
    // The first move begins in a window, which can open after the agreed start. A start that has passed delays nothing.
    const earliest = startAt && earliestMove(startAt, now);
    const from = earliest && (nextMove(progress.windows, earliest) ?? earliest);
    const notBefore = from && from > now ? `, but not before ${localTime(from)}` : '';
    return `once steps 2 to 4 have ended${notBefore}, the first company will be moved. This approval can be withdrawn until that move begins, but a move cannot be undone`;
  },
  'migrate-first-company': (progress) => {
    const waiting = progress?.counts.waiting;
    const companies = waiting === undefined ? 'companies' : waiting === 1 ? 'company' : counted(waiting, 'company');
    const next = waiting === 0 ? 'step 6 begins' : `the remaining ${companies} may be moved`;
    return `this cannot be undone: ${next}, and a company that has moved stays moved`;
  },
  'complete-migration': () =>
    'once client and support have signed off, this cannot be undone: no more companies can be moved, and the stored credentials are destroyed',
};

/** Returns what follows from approving a step, and whether it can be undone; null if nothing moves or ends. */
export function approvalConsequence(step: Step, progress: Progress | undefined, now = new Date()): string | null {
  return APPROVALS[step]?.(progress, now.toISOString()) ?? null;
}

/** Returns what follows from a resume that lifts every pause; null if it only lets moves begin again. */
export function resumeConsequence(progress: Progress | undefined): string | null {
  return progress && !isOver(progress.state) && hasFailuresToAccept(progress) ? FAILURES_ACCEPTED : null;
}

/** Returns the number of companies that are being moved. */
export function inFlightIn({ counts }: Progress): number {
  return counts.importing + counts.syncing;
}

/** Returns what follows from cancelling or abandoning a migration. */
export function endingConsequence(progress: Progress | undefined): string {
  if (progress && progress.counts.moved + progress.counts.outcomeUnknown + inFlightIn(progress) === 0)
    return 'no company has moved, none will be moved, and all supplied credentials will be destroyed';
  const checked = progress ? checkedAfterEnd(progress) : '';
  const moved = progress ? ` (${outOf(progress.counts.moved, progress.counts.total, 'company')} so far)` : '';
  return `no more moves will begin${checked}, all supplied credentials will be destroyed, and companies that have moved stay moved${moved}`;
}

/**
 * Says how many companies are still checked after the end. A company that is importing is one of them only if its
 * credential has been sent.
 */
function checkedAfterEnd(progress: Progress): string {
  const moving = inFlightIn(progress);
  if (moving === 0) return '';
  const companies = `${progress.counts.importing > 0 ? 'up to ' : ''}${counted(moving, 'company')}`;
  const credential = moving === 1 ? 'credential has' : 'credentials have';
  return `, ${companies} whose ${credential} already been handed over will be checked to the end`;
}

/**
 * Says which sign-offs a decision about companies withdraws, and what follows; null if nothing has been signed off, or
 * the migration has completed.
 */
export function withdrawalConsequence(progress: Progress | undefined): string | null {
  const given = progress?.steps.find(({ step }) => step === 'complete-migration')?.approvals ?? [];
  if (progress?.state === 'completed' || given.length === 0) return null;
  const signOffs = withdrawalText(given.map(({ role, by }) => ({ step: 'complete-migration', role, by })));
  return `this decision withdraws ${signOffs}; the handover must then be signed off again`;
}

const MAX_NAMED = 10;

/**
 * Returns what follows from a final decision on companies, with their names and states.
 *
 * @param db the ledger; undefined if there is no access to it, in which case companies are listed only by reference
 * @param fate the consequence for the companies: "will not be ..."
 */
export async function finalConsequence(
  db: Database | undefined,
  migrationId: string,
  { fate, references }: { readonly fate: string; readonly references: readonly string[] },
): Promise<string> {
  const first = references.slice(0, MAX_NAMED);
  const described = new Map<string, string>();
  if (db)
    for await (const { reference, name, state, failure } of readCompanies(db, migrationId, { references: first }))
      described.set(reference, `${reference} (${name}, ${clientStateText(state, failure)})`);
  const named = references.map((each) => described.get(each) ?? each);
  return `${counted(references.length, 'company')} ${fate}: ${referenceList(named, MAX_NAMED)}`;
}

/**
 * Returns the end of a self-service migration that follows from a final decision on companies, because no company is
 * left after it; null if the migration does not end.
 */
export function lastCompaniesConsequence(progress: Progress | undefined, decided: number): string | null {
  if (progress?.route !== 'self-service' || countOpen(progress.counts) + progress.counts.failed > decided) return null;
  return `No company is then left, so ${automaticEndText(progress)}`;
}
