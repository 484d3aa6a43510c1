/** Sends notices to people who have to act: a notice that the migration has stopped, reminders and an escalation. */
import { ActivityFailure, condition, log } from '@temporalio/workflow';
import type { Wait } from '../../domain/migration/migration-state';
import type { NoticeKind } from '../../domain/progress/notices';
import { afterNotice, nextNotice, noticeOf, waitOf } from '../../domain/progress/notices';
import { noticeActivities } from '../activity-proxies';
import type { MigrationContext } from './context';
import { now } from './context';

/** Sends each notice when it is due. Runs alongside the steps until the migration is closed. */
export async function sendReminders(migration: MigrationContext): Promise<void> {
  while (migration.state().closed === null) {
    const wait = updateWait(migration);
    const isOver = (): boolean => migration.state().closed !== null || hasNewWait(migration);
    if (wait === null) {
      await condition(isOver);
      continue;
    }
    const { kind, dueAt } = nextNotice(migration.state(), wait);
    const { limits } = migration.state();
    const dueInMs = Date.parse(dueAt) - Date.now();
    // Changed limits can change when the notice is due.
    const isOutdated = (): boolean => isOver() || migration.state().limits !== limits;
    if (dueInMs > 0 && (await condition(isOutdated, dueInMs, { summary: TIMER_SUMMARIES[kind] }))) continue;
    migration.change((state) => ({ ...state, wait: afterNotice(wait, kind) }));
    await post(migration, kind);
  }
}

/** Returns the current wait; null if nobody has to act. A new wait begins now. */
function updateWait(migration: MigrationContext): Wait | null {
  const wait = waitOf(migration.state(), migration.state().wait, now());
  if (wait !== migration.state().wait) migration.change((state) => ({ ...state, wait }));
  return wait;
}

function hasNewWait(migration: MigrationContext): boolean {
  return waitOf(migration.state(), migration.state().wait, now()) !== migration.state().wait;
}

const TIMER_SUMMARIES: Readonly<Record<NoticeKind, string>> = {
  stopped: 'Until the "migration has stopped" notice is due',
  reminder: 'Until a reminder is due',
  escalation: 'Until an escalation is due',
};

async function post(migration: MigrationContext, kind: NoticeKind): Promise<void> {
  const { wait } = migration.state();
  if (!wait) return;
  const notice = noticeOf(migration.plan.migrationId, migration.state(), wait, kind);
  try {
    await noticeActivities.sendNotice.executeWithOptions({ summary: `Send a notice: ${kind}` }, [notice]);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a notice was not delivered', { kind });
  }
}
