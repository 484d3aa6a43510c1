/** Notices: who is waited for is reminded, and later somebody else is told. Pure: times are given. */
import type { ReminderIntervals } from '../planning/limits';
import { stopReasonText } from '../companies/failures';
import type { MigrationState, Wait } from '../migration/migration-state';
import { waitingForOf } from './progress';
import type { Role, Step } from '../migration/steps';
import { stepNumber } from '../migration/steps';
import { counted } from '../text/sentences';

/** `stopped`: the migration paused itself; `reminder`: somebody is waited for; `escalation`: for too long. */
export type NoticeKind = 'stopped' | 'reminder' | 'escalation';

/** What a notice says. No name of a person or a company, only its reference: webhooks lead out of the house. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly migrationId: string;
  /** The self-service route has no steps that people know. */
  readonly step: Step | 'self-service';
  readonly waitingFor: readonly Role[];
  readonly what: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** The wait that the state is in: the one before, if it is still the same; null: nobody is waited for. */
export function waitOf(state: MigrationState, before: Wait | null, at: string): Wait | null {
  const { roles } = waitingForOf(state);
  if (roles.length === 0) return null;
  const about = `${state.step}/${roles.join('+')}${state.pause ? '/paused' : ''}`;
  if (before?.about === about) return before;
  return { about, since: at, reminders: 0, escalated: false, stopTold: false };
}

/** The next notice about a wait, and when it is due. ISO 8601, UTC. */
export function nextNotice(state: MigrationState, wait: Wait): { readonly kind: NoticeKind; readonly dueAt: string } {
  if (state.pause?.stop && !wait.stopTold) return { kind: 'stopped', dueAt: wait.since };
  const { firstAfterMs, everyMs, escalateAfterMs } = patienceIn(state);
  const remindAfterMs = firstAfterMs + wait.reminders * everyMs;
  const kind = !wait.escalated && escalateAfterMs <= remindAfterMs ? 'escalation' : 'reminder';
  const afterMs = kind === 'escalation' ? escalateAfterMs : remindAfterMs;
  return { kind, dueAt: new Date(Date.parse(wait.since) + afterMs).toISOString() };
}

export function afterNotice(wait: Wait, kind: NoticeKind): Wait {
  switch (kind) {
    case 'stopped':
      return { ...wait, stopTold: true };
    case 'reminder':
      return { ...wait, reminders: wait.reminders + 1 };
    case 'escalation':
      return { ...wait, escalated: true };
  }
}

/** Days before the client's application is switched off, hours from then on: its data is dark. In self-service it is off at the start. */
function patienceIn({ route, step, limits }: MigrationState): ReminderIntervals {
  const isDark = route === 'self-service' || stepNumber(step) > stepNumber('disable-syncing');
  return isDark ? limits.remindWhileDark : limits.remindBeforeDark;
}

export function noticeOf(migrationId: string, state: MigrationState, wait: Wait, kind: NoticeKind): Notice {
  const { roles, what } = waitingForOf(withoutNames(state));
  const step = state.route === 'self-service' ? state.route : state.step;
  return { kind, migrationId, step, waitingFor: roles, what, since: wait.since };
}

/** What people wrote, and what was found about companies, may name somebody: whoever has a name to look it up may see it. */
function withoutNames(state: MigrationState): MigrationState {
  const { pause, preflight } = state;
  const kinds = preflight?.problems.length ?? 0;
  return {
    ...state,
    pause: pause && { ...pause, reason: pause.stop === null ? 'somebody has paused it' : stopReasonText(pause.stop) },
    preflight: preflight && { ...preflight, problems: kinds === 0 ? [] : [`problems of ${counted(kinds, 'kind')}`] },
  };
}
