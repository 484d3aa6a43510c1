/** Reminds and escalates beside everything else that a migration does. */
import { ActivityFailure, condition, log } from '@temporalio/workflow';
import type { NoticeKind } from '../../domain/progress/notices';
import { afterNotice, nextNotice, noticeOf, waitOf } from '../../domain/progress/notices';
import { noticeActivities } from '../activity-proxies';
import type { MigrationContext } from './context';
import { now } from './context';

/** For as long as the migration lives. */
export async function sendReminders(desk: MigrationContext): Promise<void> {
  while (desk.state().closed === null) {
    const wait = followed(desk);
    const changed = (): boolean => desk.state().closed !== null || isAnotherWait(desk);
    if (wait === null) {
      await condition(changed);
      continue;
    }
    const { kind, dueAt } = nextNotice(desk.state(), wait);
    const { limits } = desk.state();
    const dueInMs = Date.parse(dueAt) - Date.now();
    // Other limits may make it due at another time.
    const otherwise = (): boolean => changed() || desk.state().limits !== limits;
    if (dueInMs > 0 && (await condition(otherwise, dueInMs, { summary: TILL_DUE[kind] }))) continue;
    desk.change((state) => ({ ...state, wait: afterNotice(wait, kind) }));
    await post(desk, kind);
  }
}

/** The wait that the migration is in now; a new one begins now. */
function followed(desk: MigrationContext) {
  const wait = waitOf(desk.state(), desk.state().wait, now());
  if (wait !== desk.state().wait) desk.change((state) => ({ ...state, wait }));
  return wait;
}

function isAnotherWait(desk: MigrationContext): boolean {
  return waitOf(desk.state(), desk.state().wait, now()) !== desk.state().wait;
}

const TILL_DUE: Readonly<Record<NoticeKind, string>> = {
  stopped: 'Until it is said that the migration has stopped',
  reminder: 'Until a reminder is due',
  escalation: 'Until an escalation is due',
};

async function post(desk: MigrationContext, kind: NoticeKind): Promise<void> {
  const { wait } = desk.state();
  if (!wait) return;
  const notice = noticeOf(desk.plan.migrationId, desk.state(), wait, kind);
  try {
    await noticeActivities.postNotice.executeWithOptions({ summary: `Notice: ${kind}` }, [notice]);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a notice was not delivered', { kind });
  }
}
