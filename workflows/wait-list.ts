/**
 * The waits of one workflow, in a list that a single condition of the SDK watches.
 *
 * An entry is a wait or an action. It has a condition, which is a plain function without side effects. The SDK
 * evaluates its own condition, and with it all conditions of the list, after every job of an activation except queries,
 * and whenever all microtasks have run. Entries whose conditions hold leave the list: first the waits end, so that no
 * action can cancel them, and then the actions run, both in the order in which they were added. If no condition holds,
 * the workflow has settled: no wait can continue until the next activation.
 *
 * Each wait could use its own condition of the SDK. But a condition of the SDK needs several promises, and the SDK
 * keeps a stack trace for every pending promise: nearly 2 KB of memory, and CPU time to create it. A wait in this list
 * needs one promise, or three with a timer. An action needs none, or two with a timer.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';

/** The maximum duration of a wait, in milliseconds, and the summary that the Temporal UI shows. */
export interface Timer {
  readonly ms: number;
  readonly summary: string;
}

export interface WaitList {
  /**
   * Waits until the condition holds, or the timer fires.
   *
   * @throws the cancellation if the current scope is cancelled
   */
  until(holds: () => boolean, timer?: Timer): Promise<void>;
  /**
   * Calls the action once: when the condition holds, or the timer fires. The action runs in the scope in which the list
   * was created.
   *
   * @returns a function that removes the action
   */
  when(holds: () => boolean, act: () => void, timer?: Timer): () => void;
  /** Does the work each time the condition holds, one run at a time, in the scope in which the list was created. */
  whenever(holds: () => boolean, work: () => Promise<void>): void;
}

interface Entry {
  readonly isDue: () => boolean;
  readonly act: () => void;
}

/**
 * Creates the list in the current scope, which must not be cancellable.
 *
 * @param onSettled called each time the conditions have been evaluated and no condition holds
 */
export function createWaitList(onSettled: () => void): WaitList {
  const waits = new Set<Entry>();
  const actions = new Set<Entry>();
  const dueEntries = (): readonly Entry[] => [...waits, ...actions].filter(({ isDue }) => isDue());

  function watch(): void {
    // Ignores the SDK's evaluation at the creation of the condition, because the code after the waits that have just
    // ended has not run yet.
    let isCreated = false;
    const isAnyDue = (): boolean => {
      if (!isCreated) return false;
      if (dueEntries().length > 0) return true;
      onSettled();
      return false;
    };
    void condition(isAnyDue).then(() => {
      const entries = dueEntries();
      for (const entry of entries) if (!waits.delete(entry)) actions.delete(entry);
      for (const { act } of entries) act();
      watch();
    });
    isCreated = true;
  }

  /** @returns a function that removes the entry */
  function add(entries: Set<Entry>, holds: () => boolean, act: () => void, timer?: Timer): () => void {
    const running = timer && startTimer(timer);
    const entry: Entry = {
      isDue: () => holds() || running?.hasFired() === true,
      act: () => {
        running?.cancel();
        act();
      },
    };
    entries.add(entry);
    return () => {
      running?.cancel();
      entries.delete(entry);
    };
  }

  const when: WaitList['when'] = (holds, act, timer) => add(actions, holds, act, timer);

  watch();
  return {
    until: (holds, timer) => {
      const scope = CancellationScope.current();
      if (scope.consideredCancelled) return scope.cancelRequested;
      if (holds()) return Promise.resolve();
      return new Promise((resolve) => {
        const end = (): void => resolve(scope.consideredCancelled ? scope.cancelRequested : undefined);
        add(waits, () => holds() || scope.consideredCancelled, end, timer);
      });
    },
    when,
    whenever: function repeat(holds, work) {
      when(holds, () => void work().then(() => repeat(holds, work)));
    },
  };
}

interface RunningTimer {
  hasFired(): boolean;
  cancel(): void;
}

/** Starts a timer. It is cancelled with the current scope. */
function startTimer({ ms, summary }: Timer): RunningTimer {
  let fired = false;
  const noteFired = (): void => {
    fired = true;
  };
  const scope = new CancellationScope();
  // The promise of the timer is not returned to `run`, which would hold two more promises.
  void scope.run(() => {
    sleep(ms, { summary }).then(noteFired, () => undefined);
    return Promise.resolve();
  });
  return { hasFired: () => fired, cancel: () => scope.cancel() };
}
