/** Pauses by people, and the pauses that a resume lifts. Each side can pause, even during an automatic pause. */
import type { MigrationControl } from '../migration/decision';
import type { MigrationState, Pause } from '../migration/migration-state';
import { automaticPause, digestOfPauses, pausesByPeople, pausesOf, pauserText } from '../migration/pauses';
import { PAUSES_CHANGED } from '../migration/decision-record';
import { roleText } from '../migration/steps';
import { allOf } from '../text/sentences';
import { applied, refused, type Ruling } from './ruling';
import { actsAsSupport } from './self-service';

export function pause(state: MigrationState, { role, by, reason }: MigrationControl, at: string): Ruling {
  const earlier = pausesByPeople(state);
  const own = earlier.find((each) => each.role === role);
  if (own) return refused(`${roleText(role)} has already paused the migration (${own.by})`);
  const added = { reason: reason ?? 'no reason given', by, role, stopReason: null, at };
  return applied({ ...state, pause: automaticPause(state), pausesByPeople: [...earlier, added] }, 'paused');
}

/** Adds an automatic pause, which replaces an earlier automatic pause. Keeps the pauses of people. */
export function withAutomaticPause(state: MigrationState, automatic: Pause): MigrationState {
  return { ...state, pause: automatic, pausesByPeople: pausesByPeople(state) };
}

/**
 * Lifts the pauses of people and, if the sender acts as support, the automatic pause. If the decision has a digest, it
 * is refused unless the pauses are those that the sender has reviewed.
 */
export function resume(state: MigrationState, { role, digest }: MigrationControl): Ruling {
  const pauses = pausesOf(state);
  if (pauses.length === 0) return refused('the migration is not paused');
  if (digest !== undefined && digest !== digestOfPauses(pauses)) return refused(PAUSES_CHANGED);
  const lifted = liftedPauses(state, role, pauses);
  const kept = lifted.length === pauses.length ? null : automaticPause(state);
  return applied({ ...state, pause: kept, pausesByPeople: [] }, liftedText(lifted, kept !== null));
}

/** Returns the pauses that a resume by this role lifts. */
export function liftedPauses(
  { route }: Pick<MigrationState, 'route'>,
  role: MigrationControl['role'],
  pauses: readonly Pause[],
): readonly Pause[] {
  return actsAsSupport({ route }, role) ? pauses : pauses.filter(({ stopReason }) => stopReason === null);
}

function liftedText(lifted: readonly Pause[], isStillPaused: boolean): string {
  const whose = lifted.map((each) =>
    each.stopReason === null ? `the pause by ${pauserText(each)}` : 'the automatic pause',
  );
  const pauses = `lifted ${allOf(whose)}`;
  const stays = `${pauses}; the migration has also paused itself, so it stays paused until support resumes it`;
  const resumed = `resumed (${pauses})`;
  return isStillPaused ? stays : resumed;
}
