/**
 * The desk of one migration: its state and every message that may reach it.
 *
 * Handlers record facts and decisions; the workflow's main function acts on them. All handlers are set when the desk is
 * opened, before the first await, and none of them throws: what cannot be read is refused with a reason.
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Counts } from '../domain/company-state';
import { isCounts } from '../domain/company-state';
import type { Outcome, Unreadable } from '../domain/decision';
import { decide, outcomeOf, refuseUnreadable } from '../domain/decisions';
import { detailsOf } from '../domain/details';
import type { MigrationState, Recorded } from '../domain/migration-state';
import { newMigration } from '../domain/migration-state';
import type { MigrationPlan } from '../domain/plan';
import type { Progress } from '../domain/progress';
import { progressOf } from '../domain/progress';
import type { DecisionMessage } from '../domain/read-decision';
import { claimedSender, DECISION_MESSAGES, readDecision } from '../domain/read-decision';
import { withStepEnded, withStepOpened } from '../domain/step-course';
import type { Step } from '../domain/steps';
import { batchProgressSignal, outcomeQuery, progressQuery } from './messages';
import { searchAttributesOf } from './search-attributes';

export interface Desk {
  readonly plan: MigrationPlan;
  state(): MigrationState;
  /** Every change goes through here, so that what people see follows it. */
  change(to: (state: MigrationState) => MigrationState): void;
  open(step: Step): void;
  end(step: Step): void;
  /** Takes a decision that did not come as a message. */
  receive(message: DecisionMessage, input: unknown): Outcome;
  /** Waits for something; false: the migration closed, turned to another step or has to cut its history before it came. */
  until(reached: (state: MigrationState) => boolean): Promise<boolean>;
  /** Waits for something, so many milliseconds at most, or until the history has to be cut. */
  whileNothing(reached: (state: MigrationState) => boolean, withinMs?: number): Promise<void>;
  /** Whether the history should be cut, and can be now: nothing is on its way to the ledger. */
  historyIsLong(): boolean;
  /** Hands what is not recorded yet to the ledger and the audit trail, for as long as the migration lives. */
  keepRecording(record: (unrecorded: readonly Recorded[]) => Promise<Counts>): Promise<void>;
}

export function openDesk(plan: MigrationPlan, carried: MigrationState | undefined): Desk {
  let state = carried ?? newMigration(plan);
  let shown = '';

  function change(to: (state: MigrationState) => MigrationState): void {
    state = to(state);
    const progress = progressOf(plan, state);
    setCurrentDetails(detailsOf(progress));
    shown = showInLists(progress, shown);
  }

  function receive(message: DecisionMessage, input: unknown): Outcome {
    const at = now();
    const reading = readDecision(message, input, uuid4);
    if ('malformed' in reading) {
      log.warn('a message could not be read', { message, why: reading.malformed });
      const { decisionId: ownId, ...sender } = claimedSender(input);
      const unreadable: Unreadable = { kind: 'unreadable', decisionId: uuid4(), message, ...sender };
      const refused = refuseUnreadable(state, unreadable, ownId, reading.malformed, at);
      change(() => refused.state);
      return refused.outcome;
    }
    const { decisionId } = reading.decision;
    change((before) => decide(before, reading.decision, at, plan.decisions));
    return outcomeOf(state, decisionId) ?? { decisionId, applied: false, text: 'not recorded', at };
  }

  for (const message of DECISION_MESSAGES) {
    setHandler(defineSignal<[unknown]>(message), (input) => void receive(message, input), {
      description: DESCRIPTIONS[message],
    });
    setHandler(defineUpdate<Outcome, [unknown]>(message), (input) => receive(message, input), {
      description: DESCRIPTIONS[message],
      validator: (input) => {
        const reading = readDecision(message, input, uuid4);
        if ('malformed' in reading) throw ApplicationFailure.nonRetryable(reading.malformed, 'Malformed');
      },
    });
  }
  setHandler(progressQuery, (): Progress => progressOf(plan, state), {
    description: 'How far the migration is, and who has to do what next',
  });
  setHandler(outcomeQuery, ({ decisionId }) => outcomeOf(state, decisionId) ?? null, {
    description: 'What became of a decision',
  });
  setHandler(batchProgressSignal, (counts: unknown) => {
    if (isCounts(counts)) change((before) => ({ ...before, counts }));
  });
  change((before) => before);

  /** How many waits may be broken off to cut the history, whether one was, and whether something is on its way to the ledger. */
  let waits = 0;
  let cutting = false;
  let recording = false;
  const shouldBeCut = (): boolean => workflowInfo().continueAsNewSuggested;
  const historyIsLong = (): boolean => shouldBeCut() && !recording;

  async function whileNothing(reached: (state: MigrationState) => boolean, withinMs?: number): Promise<void> {
    const over = (): boolean => reached(state) || historyIsLong();
    waits += 1;
    try {
      await (withinMs === undefined ? condition(over) : condition(over, withinMs));
    } finally {
      waits -= 1;
      cutting ||= historyIsLong();
    }
  }

  async function keepRecording(record: (unrecorded: readonly Recorded[]) => Promise<Counts>): Promise<void> {
    // What comes before a cut that nothing holds up is recorded after it: a flood of messages must not put it off.
    const cutComes = (): boolean => state.closed === null && (cutting || (shouldBeCut() && waits > 0));
    for (;;) {
      await condition(() => (state.unrecorded.length > 0 && !cutComes()) || state.closed !== null);
      const { unrecorded } = state;
      if (unrecorded.length === 0) return;
      recording = true;
      const counts = await record(unrecorded);
      recording = false;
      change((before) => ({ ...before, counts, unrecorded: before.unrecorded.slice(unrecorded.length) }));
    }
  }

  return {
    plan,
    state: () => state,
    change,
    receive,
    open: (step) => change((before) => withStepOpened(before, step, now())),
    end: (step) => change((before) => withStepEnded(before, step, now())),
    until: async (reached) => {
      const { step } = state;
      await whileNothing(() => reached(state) || state.closed !== null || state.step !== step);
      return reached(state) && state.step === step;
    },
    whileNothing,
    historyIsLong,
    keepRecording,
  };
}

/** What people read who send a message in Temporal's own tools. */
const DESCRIPTIONS: Readonly<Record<DecisionMessage, string>> = {
  approve: 'Approve a step: {"step", "role": "client" or "support", "by": your name, "reason"?}',
  reject:
    'Reject a step: as approve; for migrate-first-company also "next": same-company, another-company ("company": reference) or abandon',
  proposeTime: 'Propose when to start: {"startAt": ISO 8601, "role", "by"}',
  chooseFirstCompany: 'Choose which company goes first: {"company": reference, "role": "support", "by"}',
  confirmSyncDisabled:
    'The client no longer uses these tokens: {"companies": "all" or references, "role": "client", "by"}',
  credentialsSupplied: 'Sent by ferry after credentials were sealed and stored',
  pause: 'Start no further company: {"role", "by", "reason"}',
  resume: 'Go on after a pause: {"role", "by"}',
  cancel: 'End the migration; what has been moved stays moved: {"role", "by", "reason"}',
  applicationSupplied: 'Sent by ferry after the application was given to the service: {"clientId", "environment"}',
  manifestAmended: 'Sent by ferry after rows were added or corrected in the ledger',
  exclude: 'Leave companies out that are not moved yet: {"companies": references, "reason", "role", "by"}',
  skip: 'Give up companies that were not moved: {"companies": references, "reason", "role": "support", "by"}',
  retry: 'Try companies again that were not moved: {"companies": "all" or references, "role": "support", "by"}',
  relink: 'Check again once the end customer has connected again: {"companies": references, "role": "support", "by"}',
  replaceCredential: 'Sent by ferry after new credentials of companies that were not moved were sealed and stored',
  adjust: 'Change the limits under way: {"limits": {"companiesPerSliceAtOnce": 4}, "role": "support", "by"}',
};

/** Workflow time: the same in every replay. */
export function now(): string {
  return new Date().toISOString();
}

/** An upsert is an event in the history, so only what has changed is written. */
function showInLists(progress: Progress, shown: string): string {
  const attributes = searchAttributesOf(progress);
  const key = JSON.stringify(attributes.map(({ value }) => value));
  if (key !== shown) upsertSearchAttributes(attributes);
  return key;
}
