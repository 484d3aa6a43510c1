/** Stoppages: the times in which a migration moved no companies, although no person had decided that. */
import type { OutageSource, StopReason } from '../companies/failures';
import type { EndedInTemporal } from './terminated';

/** Times are ISO 8601, UTC. */
export interface Stoppage {
  /** `pause`: the migration paused itself. `outage`: it waited, because no call got through. */
  readonly kind: 'pause' | 'outage';
  /** Why the migration paused itself; null for an outage, or if it is not known. */
  readonly stop: StopReason | null;
  /** Where the outage was; null for a pause. */
  readonly source: OutageSource | null;
  readonly beganAt: string;
  /** Null while it continues. */
  readonly endedAt: string | null;
}

/** A stoppage with its reason for support. */
export interface RecordedStoppage extends Stoppage {
  /** The reason of the pause, with the advice of that time; or the error of the call that did not get through. */
  readonly why: string;
}

/**
 * Returns the stoppages of a migration. If its workflow has ended in Temporal at a known time, a stoppage that was
 * still open ended with the workflow, because nothing waits or can be resumed any more.
 *
 * @param end null if the workflow has not ended, or not before the migration
 */
export function withEndInTemporal<Each extends Stoppage>(
  stoppages: readonly Each[],
  end: EndedInTemporal | null,
): readonly Each[] {
  const at = end?.at ?? null;
  if (at === null) return stoppages;
  return stoppages.map((each) => {
    if (each.endedAt !== null) return each;
    // An activity that outlives its workflow can record a stoppage afterwards. Such a stoppage ends when it began.
    return { ...each, endedAt: Date.parse(each.beganAt) > Date.parse(at) ? each.beganAt : at };
  });
}
