/** Polls the service for companies that must reconnect, until their end customers have done so. */
import { CancellationScope, patched } from '@temporalio/workflow';
import type { MigrationState, ReconnectionChecks } from '../../domain/migration/migration-state';
import { longActivities, promptActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { runAlongside } from '../concurrency';
import { isRecorded } from './conditions';
import type { MigrationContext } from './context';
import { refreshCounts } from './ledger-state';

/** Polls are half a minute apart at first and an hour apart later, because an end customer can take weeks. */
const POLL_DELAY = { shortestMs: 30_000, longestMs: 3_600_000 };
const SUMMARY = 'Until the next check for reconnected companies';

/** Does the work, and meanwhile polls for companies that have reconnected. */
export function whileRelinking<T>(migration: MigrationContext, work: () => Promise<T>): Promise<T> {
  return runAlongside(work, (isOver) => pollRelinking(migration, isOver));
}

const NO_CHECKS: ReconnectionChecks = { asked: 0, answered: 0, checkedAt: null };
const isAsked = ({ reconnections = NO_CHECKS }: MigrationState): boolean =>
  reconnections.asked > reconnections.answered;

/**
 * Returns whether companies must reconnect although no person has decided to relink them. Calls `patched`, because
 * histories of earlier versions contain no checks for these companies.
 */
const mustReconnect = ({ relinking, counts }: MigrationState): boolean =>
  relinking === 0 && counts.mustReconnect > 0 && patched('check-must-reconnect');

/** Asks for a check now. Does nothing outside step 6, or if no end customer has to reconnect. */
export function askForCheck({ state, change }: MigrationContext): void {
  const { step, relinking } = state();
  if (step !== 'complete-migration' || (relinking === 0 && !mustReconnect(state()))) return;
  change(({ reconnections = NO_CHECKS, ...before }) => ({
    ...before,
    reconnections: { ...reconnections, asked: reconnections.asked + 1 },
  }));
}

/**
 * How long a sign-off waits for the check. Shorter than the time for which `client/` waits for the outcome of the
 * sign-off (`ANSWER_WITHIN_MS` in client/delivery.ts).
 */
const CHECK_WITHIN_MS = 8_000;

/** Returns whether companies that must reconnect must be checked before a sign-off is applied. */
export function needsCheckBeforeSignOff({ state }: MigrationContext): boolean {
  const { step, relinking } = state();
  if (step !== 'complete-migration') return false;
  // Histories of earlier versions contain sign-offs without this check.
  return (relinking > 0 && patched('check-before-sign-off')) || mustReconnect(state());
}

/**
 * Asks for a check of the companies that must reconnect, and waits for the result for at most 8 s. If the service does
 * not answer in time, the sign-off is based on the last known result. The report says when the last check took place.
 */
export function checkBeforeSignOff(migration: MigrationContext): Promise<void> {
  return CancellationScope.nonCancellable(async () => {
    askForCheck(migration);
    await migration.until(() => !isAsked(migration.state()), {
      ms: CHECK_WITHIN_MS,
      summary: 'Until companies that must reconnect have been checked',
    });
  });
}

async function pollRelinking(migration: MigrationContext, isOver: () => boolean): Promise<void> {
  const { migrationId } = migration.plan;
  const nextDelayMs = backoff(POLL_DELAY);
  /** True if a decision has added companies. Their end customers are likely to reconnect soon. */
  let added = false;
  /** The number of companies that had not reconnected at the last poll. */
  let stillWaiting = 0;
  for (;;) {
    // A relink decision increases the count, and the next poll then follows at once.
    const hasMore = (): boolean => migration.state().relinking > stillWaiting && isRecorded(migration.state());
    const timer = stillWaiting === 0 ? undefined : { ms: nextDelayMs(0, added), summary: SUMMARY };
    const isAskedNow = (): boolean => isAsked(migration.state());
    await migration.until(() => isOver() || hasMore() || isAskedNow(), timer);
    if (isOver()) return;
    added = hasMore();
    const { relinking, reconnections: { asked } = NO_CHECKS } = migration.state();
    const report = isAskedNow()
      ? await promptActivities.checkReconnected({ migrationId }).catch(() => null)
      : await longActivities.checkReconnected({ migrationId });
    const answered = ({ reconnections = NO_CHECKS }: MigrationState): Pick<MigrationState, 'reconnections'> => ({
      reconnections: { ...reconnections, answered: asked, checkedAt: report?.checkedAt ?? reconnections.checkedAt },
    });
    if (report === null) {
      // The check may have recorded some companies as reconnected before it failed.
      await refreshCounts(migration, (state) => ({ ...answered(state), wakes: state.wakes + 1 }));
      // The check has failed, or has not reached all companies in time. A check with more time follows at once.
      if (mustReconnect(migration.state()) && patched('check-again-with-more-time'))
        migration.change((state) => ({ ...state, relinking: state.counts.mustReconnect }));
      continue;
    }
    const { waiting, reconnected } = report;
    await refreshCounts(migration, (state) => ({
      ...answered(state),
      // A relink decision may have added companies during this poll. The next poll follows at once and checks them.
      relinking: waiting + state.relinking - relinking,
      // Wakes a batch run, which verifies the companies that have reconnected.
      wakes: state.wakes + reconnected,
    }));
    stillWaiting = waiting;
  }
}
