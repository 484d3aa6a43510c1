/** Sends notices to people who have to act: a notice that the migration has stopped, reminders and an escalation. */
import { ActivityFailure, log } from '@temporalio/workflow';
import type { MigrationState, Wait } from '../../domain/migration/migration-state';
import { afterNotice, nextNotice, noticeOf, waitOf, type NoticeKind } from '../../domain/progress/notices';
import { isRecordingDecisions, waitingForOf } from '../../domain/progress/waiting-for';
import { noticeSummary } from '../../presentation/temporal-ui/event-summaries';
import { noticeActivities } from '../activity-proxies';
import { now, type MigrationContext } from './context';

/** Sends each notice when it is due, until the migration is closed. */
export function sendReminders(migration: MigrationContext): void {
  const isOver = (): boolean => migration.state().closed !== null;
  if (isOver()) return;
  const wait = updateWait(migration);
  const { limits } = migration.state();
  // A new wait has its own notices, and changed limits can change the time at which a notice is due.
  const isOutdated = (): boolean => isOver() || hasNewWait(migration) || migration.state().limits !== limits;
  const sendNext = (): void => sendReminders(migration);
  if (wait === null) {
    migration.when(isOutdated, sendNext);
    return;
  }
  const { kind, dueAt } = nextNotice(migration.state(), wait);
  const dueInMs = Date.parse(dueAt) - Date.now();
  if (dueInMs > 0) {
    migration.when(isOutdated, sendNext, { ms: dueInMs, summary: TIMER_SUMMARIES[kind] });
    return;
  }
  // A notice would ask the client for something that the decisions may have settled.
  if (isRecording(migration.state())) {
    migration.when(() => isOutdated() || !isRecording(migration.state()), sendNext);
    return;
  }
  migration.change((state) => ({ ...state, wait: afterNotice(wait, kind) }));
  void post(migration, kind).then(sendNext);
}

/** Returns the current wait; null if no person has to act. A new wait begins now. */
function updateWait(migration: MigrationContext): Wait | null {
  const wait = waitOf(migration.state(), migration.state().wait, now());
  if (wait !== migration.state().wait) migration.change((state) => ({ ...state, wait }));
  return wait;
}

function hasNewWait(migration: MigrationContext): boolean {
  return waitOf(migration.state(), migration.state().wait, now()) !== migration.state().wait;
}

const isRecording = (state: MigrationState): boolean => isRecordingDecisions(waitingForOf(state));

const TIMER_SUMMARIES: Readonly<Record<NoticeKind, string>> = {
  stopped: 'Until the "migration has stopped" notice is due',
  reminder: 'Until a reminder is due',
  escalation: 'Until an escalation is due',
};

async function post(migration: MigrationContext, kind: NoticeKind): Promise<void> {
  const { wait } = migration.state();
  if (!wait) return;
  const notice = noticeOf(migration.plan.migrationId, migration.state(), wait, kind, now());
  try {
    await noticeActivities.sendNotice.executeWithOptions({ summary: noticeSummary(kind, notice.waitingFor) }, [notice]);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a notice was not delivered', { kind });
  }
}
