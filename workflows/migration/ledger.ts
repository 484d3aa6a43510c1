/** What steps 5 and 6 share: when companies may be moved, what is waited for, and how a migration pauses itself. */
import type { StopReason } from '../../domain/companies/failures';
import { stopInWords } from '../../domain/companies/failures';
import type { MigrationState } from '../../domain/migration/migration-state';
import { records } from '../activity-proxies';
import type { Desk } from './context';
import { now } from './context';

/** Whether everything that was decided has reached the ledger. */
export function inLedger({ unrecorded }: MigrationState): boolean {
  return unrecorded.length === 0;
}

/** A run that starts before a resume is written in the ledger would find it paused. */
export function mayMove(state: MigrationState): boolean {
  return state.pause === null && inLedger(state);
}

/**
 * What is news from now on: a decision that has reached the ledger, a window that was opened, a hint to look again. Asked
 * for before the ledger is read, so that nothing is missed that comes meanwhile.
 */
export function newsAfter(desk: Desk): (state: MigrationState) => boolean {
  const { outcomes, opened, looks, unrecorded } = desk.state();
  return (state) =>
    inLedger(state) &&
    (unrecorded.length > 0 || state.outcomes !== outcomes || state.opened !== opened || state.looks !== looks);
}

/**
 * Counts the companies. What reaches the ledger while they are counted makes the answer an old one: then they are counted
 * again, for a company that was decided about would be missed.
 *
 * @param change what is changed together with the counts
 */
export async function countAgain(desk: Desk, change: (state: MigrationState) => Partial<MigrationState> = () => ({})) {
  const { migrationId } = desk.plan;
  for (;;) {
    const isNews = newsAfter(desk);
    const counts = await records.count({ migrationId });
    if (isNews(desk.state())) continue;
    return desk.change((state) => ({ ...state, counts, ...change(state) }));
  }
}

/** Waits for the next window; false: something was decided meanwhile that may change what comes next. */
export async function windowOpen(desk: Desk): Promise<boolean> {
  const { migrationId } = desk.plan;
  const isNews = newsAfter(desk);
  const { opening, opensInMs } = await records.openWindow({ migrationId });
  desk.change((state) => ({ ...state, opening }));
  if (opensInMs <= 0) return true;
  await desk.whileNothing(isNews, { ms: opensInMs, summary: 'Until the next window opens' });
  return false;
}

/** What is left is estimated from what was measured on the companies that have moved. */
export async function estimateAgain(desk: Desk, runFinished: boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const estimate = await records.estimateRest({ migrationId, runFinished });
  desk.change((state) => ({ ...state, estimate }));
}

/** The migration pauses itself: something is wrong that is not the companies' fault. Support resumes it. */
export async function halt(desk: Desk, stop: StopReason, also: Partial<MigrationState> = {}): Promise<void> {
  await records.setPaused({ migrationId: desk.plan.migrationId, paused: true });
  desk.change((state) => ({ ...state, ...also, pause: { reason: stopInWords(stop), by: null, stop, at: now() } }));
}
