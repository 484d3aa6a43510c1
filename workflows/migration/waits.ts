/**
 * Waiting, and when a history may be cut.
 *
 * A migration waits for weeks, and its history is cut while it does: as soon as the server suggests it and nothing that
 * was decided is on its way to the ledger. Every wait that may be broken off for that is one of these.
 */
import { condition, workflowInfo } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import type { MigrationState, Recorded } from '../../domain/migration/migration-state';
import { nextAuditBatch } from '../../domain/decisions/audit-batches';

/** How long a wait lasts at most, and what it is for, as Temporal's own tools show it. */
export interface Timer {
  readonly ms: number;
  readonly summary: string;
}

export interface Waits {
  /** Waits for something, as long as the timer says at most, or until the history has to be cut. */
  whileNothing(reached: (state: MigrationState) => boolean, timer?: Timer): Promise<void>;
  /** Waits for something; false: the migration closed, turned to another step or has to cut its history before it came. */
  until(reached: (state: MigrationState) => boolean): Promise<boolean>;
  /** Whether the history should be cut, and can be now: nothing is on its way to the ledger. */
  historyIsLong(): boolean;
  /** Hands what is not recorded yet to the ledger and the audit trail, for as long as the migration lives. */
  keepRecording(record: (unrecorded: readonly Recorded[]) => Promise<Counts>): Promise<void>;
}

export function waitsOf(
  state: () => MigrationState,
  change: (to: (state: MigrationState) => MigrationState) => void,
): Waits {
  /** How many waits may be broken off to cut the history, whether one was, and whether something is on its way to the ledger. */
  let waits = 0;
  let cutting = false;
  let recording = false;
  const shouldBeCut = (): boolean => workflowInfo().continueAsNewSuggested;
  /** Whether what is not recorded yet is short enough to be carried over the cut. */
  const isCarried = (): boolean => nextAuditBatch(state().unrecorded).length === state().unrecorded.length;
  const historyIsLong = (): boolean => shouldBeCut() && !recording && isCarried();

  async function whileNothing(reached: (state: MigrationState) => boolean, timer?: Timer): Promise<void> {
    waits += 1;
    try {
      await conditionOrTimer(() => reached(state()) || historyIsLong(), timer);
    } finally {
      waits -= 1;
      cutting ||= historyIsLong();
    }
  }

  async function until(reached: (state: MigrationState) => boolean): Promise<boolean> {
    const { step } = state();
    await whileNothing((now) => reached(now) || now.closed !== null || now.step !== step);
    return reached(state()) && state().step === step && state().closed === null;
  }

  async function keepRecording(record: (unrecorded: readonly Recorded[]) => Promise<Counts>): Promise<void> {
    // What comes before a cut that nothing holds up is recorded after it: a flood of messages must not put it off.
    const cutComes = (): boolean => state().closed === null && (cutting || (shouldBeCut() && waits > 0)) && isCarried();
    for (;;) {
      await condition(() => (state().unrecorded.length > 0 && !cutComes()) || state().closed !== null);
      const next = nextAuditBatch(state().unrecorded);
      if (next.length === 0) return;
      recording = true;
      const counts = await record(next);
      recording = false;
      change((before) => ({ ...before, counts, unrecorded: before.unrecorded.slice(next.length) }));
    }
  }

  return { whileNothing, until, historyIsLong, keepRecording };
}

/** Waits for something, as long as the timer says at most. */
export async function conditionOrTimer(reached: () => boolean, timer?: Timer): Promise<void> {
  if (timer) await condition(reached, timer.ms, { summary: timer.summary });
  else await condition(reached);
}
