/** What every migration does, whichever route it takes, from its first message to its handover. */
import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
} from '@temporalio/workflow';
import type { MigrationState } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import { shortActivities, localActivities } from '../activity-proxies';
import type { MigrationContext } from './context';
import { openMigrationContext } from './context';
import type { Handover } from './hand-over';
import { handOver } from './hand-over';
import { sendReminders } from './reminders';
import { keepDetailsChecked } from './steps/supply-details';

/** A migration's plan, and what it knew when its history was cut. */
export type MigrationInput = MigrationPlan & { readonly carried?: MigrationState };

/** @param doStep what the present step does until it has ended, or until a decision turned the migration to another one */
export async function runMigration(
  { carried, ...plan }: MigrationInput,
  doStep: (desk: MigrationContext) => Promise<void>,
): Promise<Handover> {
  const desk = openMigrationContext(plan, carried);
  const outside = CancellationScope.current();
  // Nothing is broken off from outside: a cancellation is a decision, and the migration ends in order.
  outside.cancelRequested.catch(() => void desk.receive('cancel', FROM_TEMPORAL));
  return CancellationScope.nonCancellable(async () => {
    const handover = await stepByStep(desk, doStep);
    // Temporal shows as cancelled what was cancelled with its own tools: not what has refused that, as unsigned.
    if (outside.consideredCancelled && desk.state().closed === 'cancelled')
      throw new CancelledFailure(FROM_TEMPORAL.reason);
    return handover;
  });
}

const FROM_TEMPORAL = { role: 'support', by: 'Temporal', reason: "cancelled with Temporal's own tools" };

async function stepByStep(
  desk: MigrationContext,
  doStep: (desk: MigrationContext) => Promise<void>,
): Promise<Handover> {
  const trail = keepTheTrail(desk);
  void sendReminders(desk);
  void keepDetailsChecked(desk);

  while (desk.state().closed === null) {
    desk.open(desk.state().step);
    await whileOpen(desk, () => doStep(desk));
    if (desk.historyIsLong()) await goOnWithFreshHistory(desk);
  }
  await trail;
  return handOver(desk);
}

/** Does something, and breaks it off when a decision ends the migration meanwhile. */
async function whileOpen(desk: MigrationContext, work: () => Promise<void>): Promise<void> {
  const scope = new CancellationScope();
  let over = false;
  const ended = (): boolean => desk.state().closed !== null;
  const watching = condition(() => over || ended()).then(() => scope.cancel());
  try {
    await scope.run(work);
  } catch (error) {
    if (!ended() || !isCancellation(error)) throw error;
  } finally {
    over = true;
    await watching;
  }
}

/** Carries what was decided to the ledger and the audit trail, in order, for as long as the migration lives. */
async function keepTheTrail(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  await desk.keepRecording(async (recorded) => {
    try {
      return await localActivities.recordDecisions({ migrationId, recorded });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return shortActivities.recordDecisions({ migrationId, recorded });
    }
  });
}

/** Only between steps and runs: continuing as new would terminate a batch run. */
async function goOnWithFreshHistory(desk: MigrationContext): Promise<void> {
  if (desk.state().closed !== null) return;
  await condition(allHandlersFinished);
  await continueAsNew<(input: MigrationInput) => Promise<Handover>>({ ...desk.plan, carried: desk.state() });
}
