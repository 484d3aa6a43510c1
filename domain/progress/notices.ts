/**
 * Notices: people who have to act are reminded, and a long wait is escalated. These functions do not read the clock:
 * the caller passes in the current time.
 */
import type { ReminderIntervals } from '../planning/limits';
import type { MigrationState, Wait } from '../migration/migration-state';
import { automaticPause, isPaused } from '../migration/pauses';
import { detailProblems } from '../migration/preflight-result';
import { actingRoles } from './acting-roles';
import { currentTask, isRecordingDecisions, waitingForOf } from './waiting-for';
import { counted } from '../text/sentences';
import { isMoveStep, type Role, type Step } from '../migration/steps';

/** `stopped`: it paused itself. `reminder`: people have to act. `escalation`: they have not acted for a long time. */
export type NoticeKind = 'stopped' | 'reminder' | 'escalation';

/** A notice. It contains no names, only references of companies, because webhooks send it to other systems. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly migrationId: string;
  /** `self-service` in the self-service route, because its steps are not shown to people. */
  readonly step: Step | 'self-service';
  readonly waitingFor: readonly Role[];
  readonly what: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/**
 * Returns the current wait; null if no person has to act. The previous wait continues if the step and the roles are the
 * same, and the migration has not been paused or resumed since. It also continues while decisions of a self-service
 * migration are being recorded, because only their outcomes show whether the client still has to act.
 */
export function waitOf(state: MigrationState, previous: Wait | null, at: string): Wait | null {
  const waitingFor = waitingForOf(state);
  if (state.keepsWait && isRecordingDecisions(waitingFor)) return previous;
  const { roles } = waitingFor;
  if (roles.length === 0) return null;
  const about = `${state.step}/${roles.join('+')}${isPaused(state) ? '/paused' : ''}`;
  if (previous?.key === about) return previous;
  return { key: about, since: at, reminders: 0, escalated: false, stopNotified: false };
}

/** Returns the next notice about a wait, and when it is due. ISO 8601, UTC. */
export function nextNotice(state: MigrationState, wait: Wait): { readonly kind: NoticeKind; readonly dueAt: string } {
  if (automaticPause(state) && !wait.stopNotified) return { kind: 'stopped', dueAt: wait.since };
  const { firstAfterMs, everyMs, escalateAfterMs } = reminderIntervalsOf(state);
  const remindAfterMs = firstAfterMs + wait.reminders * everyMs;
  const kind = !wait.escalated && escalateAfterMs <= remindAfterMs ? 'escalation' : 'reminder';
  const afterMs = kind === 'escalation' ? escalateAfterMs : remindAfterMs;
  return { kind, dueAt: new Date(Date.parse(wait.since) + afterMs).toISOString() };
}

export function afterNotice(wait: Wait, kind: NoticeKind): Wait {
  switch (kind) {
    case 'stopped':
      return { ...wait, stopNotified: true };
    case 'reminder':
      return { ...wait, reminders: wait.reminders + 1 };
    case 'escalation':
      return { ...wait, escalated: true };
  }
}

/**
 * Returns the reminder intervals: `remindBeforeStale` until step 4 ends, and `remindWhileStale` after step 4, because
 * companies' data is then out of date. In the self-service route, data is out of date from the start.
 */
function reminderIntervalsOf({ route, step, limits }: MigrationState): ReminderIntervals {
  const isOutOfDate = route === 'self-service' || isMoveStep(step);
  return isOutOfDate ? limits.remindWhileStale : limits.remindBeforeStale;
}

/** @param at when the notice is sent. ISO 8601, UTC */
export function noticeOf(migrationId: string, state: MigrationState, wait: Wait, kind: NoticeKind, at: string): Notice {
  const waitingFor = waitingForOf(withoutNames(migrationId, state));
  const roles = isPaused(state) ? waitingFor.roles : actingRoles(state, waitingFor.roles);
  const what = currentTask({ ...state, windows: state.limits.windows, waitingFor }, at);
  const step = state.route === 'self-service' ? state.route : state.step;
  return { kind, migrationId, step, waitingFor: roles, what, since: wait.since };
}

/** Replaces problems of the details by their number, because they can contain names. Keeps a missing manifest. */
function withoutNames(migrationId: string, state: MigrationState): MigrationState {
  const { preflight } = state;
  if (preflight === null) return state;
  const { problems, isManifestMissing } = detailProblems(preflight);
  const kinds = counted(problems.length, 'kind');
  return {
    ...state,
    preflight: {
      ...preflight,
      problems: [
        ...(isManifestMissing ? ['no manifest'] : []),
        ...(problems.length === 0 ? [] : [`${kinds} of problem, listed by: ferry show ${migrationId}`]),
      ],
      problemCodes: isManifestMissing ? ['no-companies'] : [],
    },
  };
}
