import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  executeChild,
  isCancellation,
  log,
  ParentClosePolicy,
  sleep,
} from '@temporalio/workflow';
import { movableCompanies } from '../domain/company-state';
import type { Counts } from '../domain/company-state';
import { stopInWords } from '../domain/failures';
import type { StopReason } from '../domain/failures';
import type { Ending, MigrationState } from '../domain/migration-state';
import type { MigrationPlan } from '../domain/plan';
import { batchRunIdOf } from '../domain/plan';
import { isSettled } from '../domain/step-course';
import type { Step } from '../domain/steps';
import { checks, records, slices, tidying } from './activity-proxies';
import { batchRun } from './batch-run';
import type { Desk } from './desk';
import { growingWait } from './growing-wait';
import { now, openDesk } from './desk';
import { keepReminding } from './reminders';

/** How a migration ended. The companies are in the ledger, and `ferry report` reads them there. */
export interface Handover {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** A migration's plan, and what it knew when its history was cut. */
export type MigrationInput = MigrationPlan & { readonly carried?: MigrationState };

/** What each step does until it has ended, or until a decision turned the migration to another step. */
const COURSE: Readonly<Record<Step, (desk: Desk) => Promise<void>>> = {
  'supply-details': detailsSupplied,
  schedule: timeAgreed,
  'update-application': (desk) => settled(desk, 'update-application'),
  'disable-syncing': (desk) => settled(desk, 'disable-syncing'),
  'migrate-first-company': firstCompanyProven,
  'complete-migration': remainingCompaniesMigrated,
};

/** One client's move to the Company Data Service, from the supplied details to the signed handover. */
export async function managedMigration({ carried, ...plan }: MigrationInput): Promise<Handover> {
  const desk = openDesk(plan, carried);
  const outside = CancellationScope.current();
  // Nothing is broken off from outside: a cancellation is a decision, and the migration ends in order.
  outside.cancelRequested.catch(() => void desk.receive('cancel', FROM_TEMPORAL));
  return CancellationScope.nonCancellable(async () => {
    const handover = await sixSteps(desk);
    // Temporal shows as cancelled what was cancelled with its own tools.
    if (outside.consideredCancelled) throw new CancelledFailure(FROM_TEMPORAL.reason);
    return handover;
  });
}

const FROM_TEMPORAL = { role: 'support', by: 'Temporal', reason: "cancelled with Temporal's own tools" };

async function sixSteps(desk: Desk): Promise<Handover> {
  const trail = keepTheTrail(desk);
  void keepReminding(desk);
  void keepDetailsChecked(desk);

  while (desk.state().closed === null) {
    const { step } = desk.state();
    desk.open(step);
    await whileOpen(desk, () => COURSE[step](desk));
    if (desk.historyIsLong()) await goOnWithFreshHistory(desk);
  }
  await trail;
  return handOver(desk);
}

/** Does something, and breaks it off when a decision ends the migration meanwhile. */
async function whileOpen(desk: Desk, work: () => Promise<void>): Promise<void> {
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

/** Step 1: the ledger and the vault are opened and the details checked; support accepts them. */
async function detailsSupplied(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  // Checked already: the history was cut while somebody was waited for.
  if (desk.state().preflight === null) {
    await records.openMigration.executeWithOptions({ summary: 'Open the migration' }, [{ migrationId }]);
    await checkDetails(desk);
  }
  // A rejection, or a correction, asks for another check.
  const ended = await desk.until((state) => isSettled(state, 'supply-details') || state.preflight === null);
  if (ended && desk.state().preflight) desk.end('supply-details');
}

/** Checks what was supplied; what is changed meanwhile is checked next. */
async function checkDetails(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  // What was decided reaches the ledger first: what is left out there is not checked.
  await condition(() => desk.state().unrecorded.length === 0);
  const { changes, proposal } = desk.state();
  const preflight = await checks.preflight.executeWithOptions({ summary: 'Check the supplied details' }, [
    { migrationId, startAt: proposal?.startAt ?? null },
  ]);
  const counts = await records.count({ migrationId });
  desk.change((state) => ({
    ...state,
    counts,
    changesChecked: Math.max(state.changesChecked, changes),
    ...(state.changes === changes ? { preflight } : {}),
  }));
}

/** After step 1 has ended, companies that are added or corrected wait for this check, beside everything else. */
async function keepDetailsChecked(desk: Desk): Promise<void> {
  const due = ({ changes, changesChecked, step }: MigrationState): boolean =>
    changes > changesChecked && step !== 'supply-details';
  for (;;) {
    await condition(() => due(desk.state()) || desk.state().closed !== null);
    if (desk.state().closed !== null) return;
    await checkDetails(desk);
  }
}

/** Step 2: the duration is estimated, anew for each proposal and other limits; both sides approve the same time. */
async function timeAgreed(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  for (;;) {
    // Windows that were proposed reach the ledger first.
    if (!(await desk.until(inLedger))) return;
    const { proposal, limits } = desk.state();
    const estimate = await records.estimatePlan.executeWithOptions({ summary: 'Estimate the duration' }, [
      { migrationId, startAt: proposal?.startAt ?? null },
    ]);
    desk.change((state) => ({ ...state, estimate }));
    const agreed = (state: MigrationState): boolean => inLedger(state) && isSettled(state, 'schedule');
    const isOther = (state: MigrationState): boolean => state.proposal !== proposal || state.limits !== limits;
    if (!(await desk.until((state) => agreed(state) || isOther(state)))) return;
    if (agreed(desk.state())) return desk.end('schedule');
  }
}

/** Steps that people settle: the migration waits, for weeks if need be. */
async function settled(desk: Desk, step: Step): Promise<void> {
  // What was decided reaches the ledger first: a confirmation taken back there opens the step again.
  const reached = await desk.until((state) => inLedger(state) && isSettled(state, step));
  if (reached) desk.end(step);
}

/** Whether everything that was decided has reached the ledger. */
function inLedger({ unrecorded }: MigrationState): boolean {
  return unrecorded.length === 0;
}

/** Step 5: one company is moved and proven; support approves it, or says what is tried next. */
async function firstCompanyProven(desk: Desk): Promise<void> {
  const step = 'migrate-first-company';
  if (!(await startTimeReached(desk))) return;
  const wanted = (state: MigrationState): boolean => state.wantedFirst !== null || movableCompanies(state.counts) > 0;
  if (desk.state().firstCompany === null) {
    if (!(await desk.until((state) => mayMove(state) && wanted(state)))) return;
    if (!(await windowOpen(desk))) return;
    await chooseFirstCompany(desk);
  }
  if (desk.state().firstCompany?.stage === 'importing') {
    await moveFirstCompany(desk);
    if (desk.state().firstCompany?.stage === 'proven') await estimateAgain(desk, false);
  }
  const decided = await desk.until((state) => isSettled(state, step) || state.firstCompany === null);
  if (decided && isSettled(desk.state(), step)) desk.end(step);
}

/** Decisions first reach the ledger: a run that starts before a resume is written there would find it paused. */
function mayMove({ pause, unrecorded }: MigrationState): boolean {
  return pause === null && unrecorded.length === 0;
}

async function startTimeReached(desk: Desk): Promise<boolean> {
  const waitMs = Date.parse(desk.state().proposal?.startAt ?? now()) - Date.now();
  if (waitMs <= 0) return true;
  const { step } = desk.state();
  // A turn to another step ends the wait early.
  const here = (state: MigrationState): boolean => state.closed === null && state.step === step;
  await desk.whileNothing((state) => !here(state), waitMs);
  return here(desk.state()) && !desk.historyIsLong();
}

/** Between two looks at the first company; a sync may take more than a day. */
const FIRST_COMPANY_WAIT = { shortestMs: 800, longestMs: 5 * 60_000 };

async function chooseFirstCompany(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  const chosen = await records.chooseFirstCompany({ migrationId, wanted: desk.state().wantedFirst?.reference ?? null });
  if (!chosen) {
    // The company that was asked for cannot be moved as it is: whatever may change that is a decision.
    desk.change((state) => ({ ...state, wantedFirst: state.wantedFirst && { ...state.wantedFirst, heldUp: true } }));
    await nextDecision(desk);
    return;
  }
  // Somebody may have paused, or taken a step back, while the company was chosen.
  if (desk.state().step !== 'migrate-first-company' || !mayMove(desk.state())) return;
  const { row, reference } = chosen;
  desk.change((state) => ({
    ...state,
    firstCompany: { row, reference, stage: 'importing', failure: null, evidence: [] },
  }));
}

/** Until something final is known of it, or the history has to be cut: then the next one goes on looking. */
async function moveFirstCompany(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  const { firstCompany } = desk.state();
  if (!firstCompany) return;
  const { row, reference } = firstCompany;
  const options = { summary: `Move and check the first company, ${reference}` };
  const work = { migrationId, row };
  const wait = growingWait(FIRST_COMPANY_WAIT);
  while (!desk.historyIsLong()) {
    const step = await slices.advanceFirstCompany.executeWithOptions(options, [work]);
    const counts = await records.count({ migrationId });
    if ('stop' in step) return halt(desk, step.stop, { counts, firstCompany: null });
    if ('result' in step) return desk.change((state) => ({ ...state, counts, firstCompany: step.result }));
    // A credential supplied, or a resume, is looked at without waiting.
    await nextDecision(desk, wait(step.againInMs, false));
  }
}

/** Resolves with the next decision, or after so many milliseconds. */
async function nextDecision(desk: Desk, withinMs?: number): Promise<void> {
  const { outcomes } = desk.state();
  await desk.whileNothing((state) => state.outcomes !== outcomes && inLedger(state), withinMs);
}

/** Step 6: batch runs move the rest; both sides sign off when nothing is open any more. */
async function remainingCompaniesMigrated(desk: Desk): Promise<void> {
  const step = 'complete-migration';
  const ready = (state: MigrationState): boolean =>
    isSettled(state, step) || (mayMove(state) && movableCompanies(state.counts) > 0);
  if (!(await whileRelinking(desk, () => desk.until(ready)))) return;
  if (isSettled(desk.state(), step)) desk.end(step);
  else if (onlySyncing(desk.state()) || (await windowOpen(desk))) await oneBatchRun(desk);
}

/** Between two looks at companies whose end customers are to connect again: minutes at first, hours later. */
const RELINK_WAIT = { shortestMs: 30_000, longestMs: 3_600_000 };

/** Does something, and looks meanwhile whether end customers have connected again. */
async function whileRelinking<T>(desk: Desk, work: () => Promise<T>): Promise<T> {
  let over = false;
  const looking = lookForRelinked(desk, () => over);
  // Whatever ends it ends the work as well, and is seen there.
  looking.catch(() => undefined);
  try {
    return await work();
  } finally {
    over = true;
    await looking;
  }
}

async function lookForRelinked(desk: Desk, isOver: () => boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const wait = growingWait(RELINK_WAIT);
  let expected = 0;
  for (;;) {
    // What was decided reaches the ledger first.
    const asked = (): boolean => desk.state().relinking > expected && desk.state().unrecorded.length === 0;
    if (expected === 0) await condition(() => isOver() || asked());
    else await condition(() => isOver() || asked(), wait(0, false));
    if (isOver()) return;
    const { relinking } = desk.state();
    const { waiting } = await records.lookForRelinked.executeWithOptions(
      { summary: 'Look whether end customers have connected again' },
      [{ migrationId }],
    );
    const counts = await records.count({ migrationId });
    // What was asked for during the look is looked at next.
    desk.change((state) => ({ ...state, counts, relinking: waiting + state.relinking - relinking }));
    expected = waiting;
  }
}

/** What syncs already is verified whenever it is ready: nothing is started by that. */
function onlySyncing({ counts }: MigrationState): boolean {
  return movableCompanies(counts) === counts.syncing;
}

/** Waits for the next window; false: something was decided meanwhile that may change what comes next. */
async function windowOpen(desk: Desk): Promise<boolean> {
  const { migrationId } = desk.plan;
  const { opening, opensInMs } = await records.openWindow({ migrationId });
  desk.change((state) => ({ ...state, opening }));
  if (opensInMs <= 0) return true;
  await nextDecision(desk, opensInMs);
  return false;
}

async function oneBatchRun(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  const runNumber = desk.state().batchRuns + 1;
  desk.change((state) => ({ ...state, batchRuns: runNumber }));
  const { stop } = await executeChild(batchRun, {
    args: [{ migrationId, runNumber }],
    workflowId: batchRunIdOf(migrationId),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: `Batch run ${runNumber} of ${migrationId}`,
  });
  const counts = await records.count({ migrationId });
  if (stop) await halt(desk, stop, { counts });
  else desk.change((state) => ({ ...state, counts }));
  await estimateAgain(desk, true);
}

/** What is left is estimated from what was measured on the companies that have moved. */
async function estimateAgain(desk: Desk, runFinished: boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const estimate = await records.estimateRest.executeWithOptions({ summary: 'Estimate what is left' }, [
    { migrationId, runFinished },
  ]);
  desk.change((state) => ({ ...state, estimate }));
}

/** The migration pauses itself: something is wrong that is not the companies' fault. Support resumes it. */
async function halt(desk: Desk, stop: StopReason, also: Partial<MigrationState>): Promise<void> {
  await records.setPaused({ migrationId: desk.plan.migrationId, paused: true });
  desk.change((state) => ({ ...state, ...also, pause: { reason: stopInWords(stop), by: null, stop, at: now() } }));
}

/** Carries what was decided to the ledger and the audit trail, in order, for as long as the migration lives. */
async function keepTheTrail(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  await desk.keepRecording((recorded) =>
    records.recordDecisions.executeWithOptions({ summary: 'Record what was decided' }, [{ migrationId, recorded }]),
  );
}

/** Only between steps and runs: continuing as new would terminate a batch run. */
async function goOnWithFreshHistory(desk: Desk): Promise<void> {
  if (desk.state().closed !== null) return;
  await condition(allHandlersFinished);
  await continueAsNew<typeof managedMigration>({ ...desk.plan, carried: desk.state() });
}

/** Companies whose attempt died just before the end: what became of their credentials is found out, not left open. */
async function interruptedSettled(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  for (;;) {
    const { againInMs } = await records.settleInterrupted.executeWithOptions(
      { summary: 'Find out what became of interrupted companies' },
      [{ migrationId }],
    );
    if (againInMs === null) return;
    await sleep(againInMs, { summary: 'Until nothing of an interrupted company can be on its way' });
  }
}

/** The ledger is closed, the credentials that are left are destroyed with the key that opened them. */
async function handOver(desk: Desk): Promise<Handover> {
  const { migrationId } = desk.plan;
  const ending = desk.state().closed ?? 'completed';
  await interruptedSettled(desk);
  const counts = await records.closeMigration.executeWithOptions(
    { summary: 'Close the migration and destroy its credentials' },
    [{ migrationId, ending }],
  );
  desk.change((state) => ({ ...state, counts }));
  await unusedRemoved(desk);
  await condition(allHandlersFinished);
  return { ending, counts };
}

/** What was created at the service for companies that were not moved goes; what cannot be removed, the report lists. */
async function unusedRemoved({ plan: { migrationId } }: Desk): Promise<void> {
  try {
    await tidying.removeUnused.executeWithOptions({ summary: 'Remove what was created for companies that stay' }, [
      { migrationId },
    ]);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('companies that were created and not used are left at the service', { migrationId });
  }
}
