/** The kinds of faults, and how often each is drawn. */
import { randomOf } from '../random';
import { absurdAnswers, cutConnections, loseAnswers, loseRequests, proxyPages, slowDown } from './connections';
import { decisionStorm, windowEdge } from './decisions';
import type { Fault, FaultKind, FaultContext } from './fault';
import { newBuild, restoreLedger, restoreTemporal } from './operations';
import {
  killBothWorkers,
  killDatabase,
  killService,
  killTemporalService,
  killWorker,
  skewClock,
  suspendProcess,
} from './processes';

export { writeChangedBundle } from './changed-build';
export type { Fault, FaultContext } from './fault';

/** The number of faults of each kind in the bag from which faults are drawn. */
const KINDS: readonly (readonly [FaultKind, number])[] = [
  [killWorker, 4],
  [killBothWorkers, 2],
  [killService, 2],
  [killDatabase, 3],
  [killTemporalService, 4],
  [suspendProcess, 2],
  [cutConnections, 3],
  [loseAnswers, 3],
  [loseRequests, 2],
  [slowDown, 1],
  [proxyPages, 2],
  [absurdAnswers, 2],
  [skewClock, 1],
  [decisionStorm, 2],
  [windowEdge, 1],
  [restoreLedger, 1],
  [restoreTemporal, 1],
  [newBuild, 1],
];

/**
 * Returns an endless sequence of faults, drawn at random from a bag: every kind occurs as often as `KINDS` says before
 * the bag is filled again. Each fault has its own sequence of random numbers, because some faults draw a number for
 * each request. So the order and the targets depend only on the seed. The requests that a fault hits differ between
 * runs.
 */
export function* drawFaults(context: FaultContext, seed: number): Generator<Fault, never> {
  const bag = KINDS.flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
  const order = randomOf(`${seed}/order`);
  for (let drawn = 1; ;)
    for (const kind of order.shuffled(bag)) {
      yield kind(context, randomOf(`${seed}/fault/${drawn}`));
      drawn += 1;
    }
}

/**
 * The kinds of a quick run, in their order. The seed decides only their targets and durations. `killWorker` and
 * `loseAnswers` come first: the run must wait for the leases (135 s) of the moves that they interrupt, and the other
 * faults happen in this time.
 */
const QUICK_KINDS: readonly FaultKind[] = [killWorker, loseAnswers, cutConnections, restoreLedger, newBuild];

/** Returns the few faults of a quick run, each of which tests a different way of recovery. */
export function quickFaults(context: FaultContext, seed: number): readonly Fault[] {
  return QUICK_KINDS.map((kind, index) => kind(context, randomOf(`${seed}/fault/${index + 1}`)));
}
