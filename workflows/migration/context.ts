/**
 * The desk of one migration: its state and every message that may reach it.
 *
 * Handlers record facts and decisions; the workflow's main function acts on them. All handlers are set when the desk is
 * opened, before the first await, and none of them throws: what cannot be read is refused with a reason.
 */
import { log, setCurrentDetails, upsertSearchAttributes, uuid4 } from '@temporalio/workflow';
import type { Outcome, Unreadable } from '../../domain/migration/decision';
import { decide, outcomeOf, refuseUnreadable } from '../../domain/decisions/decide';
import { currentDetails } from '../../presentation/temporal-ui/current-details';
import type { MigrationState } from '../../domain/migration/migration-state';
import { newMigration } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import type { Progress } from '../../domain/progress/progress';
import { progressOf } from '../../domain/progress/progress';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { claimedSender, parseDecision } from '../../domain/migration/parse-decision';
import { readSigned } from '../../domain/migration/signatures';
import { withStepEnded, withStepOpened } from '../../domain/decisions/step-transitions';
import type { Step } from '../../domain/migration/steps';
import type { Receiver } from './message-handlers';
import { setHandlers } from './message-handlers';
import { searchAttributesOf } from './search-attributes';
import type { Waits } from './waits';
import { waitsOf } from './waits';

export interface MigrationContext extends Receiver, Waits {
  open(step: Step): void;
  end(step: Step): void;
}

export function openMigrationContext(plan: MigrationPlan, carried: MigrationState | undefined): MigrationContext {
  let current = carried ?? newMigration(plan);
  let shown = '';
  const state = (): MigrationState => current;

  function change(to: (state: MigrationState) => MigrationState): void {
    current = to(current);
    const progress = progressOf(plan, current);
    setCurrentDetails(currentDetails(progress));
    shown = showInLists(progress, shown);
  }

  function receive(message: DecisionMessage, input: unknown): Outcome {
    const at = now();
    const reading = parseDecision(message, input, uuid4);
    if ('malformed' in reading) return refuse(message, input, reading.malformed, at);
    const { decisionId } = reading.decision;
    const came = { migrationId: plan.migrationId, signed: readSigned(message, input) };
    change((before) => decide(before, reading.decision, at, plan.decisions, came));
    return outcomeOf(current, decisionId) ?? { decisionId, applied: false, text: 'not recorded', at };
  }

  function refuse(message: DecisionMessage, input: unknown, why: string, at: string): Outcome {
    log.warn('a message could not be read', { message, why });
    const { decisionId: ownId, ...sender } = claimedSender(input);
    const unreadable: Unreadable = { kind: 'unreadable', decisionId: uuid4(), message, ...sender };
    const refused = refuseUnreadable(current, unreadable, ownId, why, at);
    change(() => refused.state);
    return refused.outcome;
  }

  setHandlers({ plan, state, change, receive });
  change((before) => before);

  return {
    plan,
    state,
    change,
    receive,
    open: (step) => change((before) => withStepOpened(before, step, now())),
    end: (step) => change((before) => withStepEnded(before, step, now())),
    ...waitsOf(state, change),
  };
}

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
