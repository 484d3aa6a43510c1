/**
 * The context of one migration: its plan, its state, and its waits.
 *
 * The whole state is one plain JSON value (`domain/migration/migration-state.ts`). It changes only through `change`.
 * Message handlers (`message-handlers.ts`) change the state when a decision arrives. The steps wait for such changes
 * and act on them. When no wait can continue until the next activation (`workflows/wait-list.ts`), the current details
 * and the search attributes are updated if the state has changed, so that people see the current state after every
 * workflow task.
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { withStepEnded, withStepOpened } from '../../domain/decisions/step-transitions';
import { newMigration, withLedgerReadings, type MigrationState } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import type { Step } from '../../domain/migration/steps';
import { progressOf, type Progress } from '../../domain/progress/progress';
import { continuedDetails, currentDetails } from '../../presentation/temporal-ui/current-details';
import { continuedState, withPatches } from './patches';
import { searchAttributesOf } from './search-attributes';
import { createWaitList } from '../wait-list';
import { createWaits, type Waits } from './waits';

export interface MigrationContext extends Waits {
  readonly plan: MigrationPlan;
  readonly state: () => MigrationState;
  readonly change: (to: (state: MigrationState) => MigrationState) => void;
  /**
   * Updates the current details and the search attributes if the state has changed. Called when no wait can continue
   * until the next activation, and before the workflow ends.
   */
  readonly show: () => void;
  /**
   * Replaces the current details for the rest of this run, because this run's page stays visible after the migration
   * has continued as new.
   */
  readonly showContinued: () => void;
  openStep(step: Step): void;
  endStep(step: Step): void;
}

/**
 * Creates the context in the current scope, which must not be cancellable.
 *
 * @param carried the state that continue-as-new carried over; undefined if the migration is new
 */
export function createMigrationContext(plan: MigrationPlan, carried: MigrationState | undefined): MigrationContext {
  let current = carried === undefined ? newMigration(plan) : continuedState(carried);
  let isShown = false;
  let isContinued = false;
  let attributes = '';
  const state = (): MigrationState => current;

  function change(to: (state: MigrationState) => MigrationState): void {
    current = withPatches(withLedgerReadings(to(current)));
    isShown = false;
  }

  function show(): void {
    if (isShown) return;
    isShown = true;
    const progress = progressOf(plan, current);
    const facts = { now: now(), reconnect: current.reconnect };
    setCurrentDetails(isContinued ? continuedDetails(plan) : currentDetails(progress, facts));
    attributes = updateSearchAttributes(progress, attributes);
  }

  function showContinued(): void {
    isContinued = true;
    setCurrentDetails(continuedDetails(plan));
  }

  return {
    plan,
    state,
    change,
    show,
    showContinued,
    openStep: (step) => change((before) => withStepOpened(before, step, now())),
    endStep: (step) => change((before) => withStepEnded(before, step, now())),
    ...createWaits(state, createWaitList(show)),
  };
}

/** Returns the workflow's time, which is the same in every replay. ISO 8601, UTC. */
export function now(): string {
  return new Date().toISOString();
}

/**
 * Updates the search attributes if they have changed since the last update, because every update adds an event to the
 * history.
 *
 * @param last the result of the last call; empty before the first call
 * @returns the attributes as text
 */
function updateSearchAttributes(progress: Progress, last: string): string {
  const attributes = searchAttributesOf(progress);
  const key = JSON.stringify(attributes.map(({ value }) => value));
  if (key !== last) upsertSearchAttributes(attributes);
  return key;
}
