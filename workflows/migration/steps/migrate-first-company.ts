/** Step 5: one company is moved and verified before the others. */
import { patched } from '@temporalio/workflow';
import { countReadyOrMoving } from '../../../domain/companies/counts';
import { isIsolated } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { FirstCompanyProgress } from '../../../activities/companies/first-company';
import { outageSummary, type Outage } from '../../../domain/migration/outage';
import { shortActivities, sliceActivities } from '../../activity-proxies';
import { backoff } from '../../backoff';
import { changedSince, mayEndStep, mayMove } from '../conditions';
import { now, type MigrationContext } from '../context';
import { refreshCounts, refreshEstimate, pauseMigration } from '../ledger-state';

const STEP = 'migrate-first-company';

/**
 * Waits for the agreed start and an open window, chooses a company, moves and verifies it, and waits for support to
 * approve the evidence. If support rejects it and does not abandon the migration, `firstCompany` is cleared, and the
 * step runs again with the company that support has chosen. If the ledger refuses the approval, the company is checked
 * again.
 */
export async function migrateFirstCompany(migration: MigrationContext): Promise<void> {
  if (!(await awaitStartTime(migration))) return;
  if (migration.state().firstCompany === null) {
    if (!(await migration.awaitInStep((state) => mayMove(state) && hasCandidate(state)))) return;
    if (!(await awaitWindow(migration))) return;
    await chooseFirstCompany(migration);
  }
  if (migration.state().firstCompany?.stage === 'importing') {
    await moveFirstCompany(migration);
    if (migration.state().firstCompany?.stage === 'verified') await refreshEstimate(migration, false);
  }
  const isDecided = (state: MigrationState): boolean =>
    mayEndStep(state, STEP) || state.firstCompany === null || state.firstCompany.stage === 'importing';
  const decided = await migration.awaitInStep(isDecided);
  if (decided && mayEndStep(migration.state(), STEP)) migration.endStep(STEP);
}

/**
 * Returns whether a company has been requested or can be moved. Also true if a company has already moved, which is
 * possible after a reset of the workflow. The evidence of the chosen company is then shown again.
 */
function hasCandidate({ requestedFirst, counts }: MigrationState): boolean {
  return requestedFirst !== null || countReadyOrMoving(counts) > 0 || counts.moved > 0;
}

/** Waits for the agreed start. Returns false if the migration has closed, left this step, or should continue as new. */
async function awaitStartTime(migration: MigrationContext): Promise<boolean> {
  const ms = Date.parse(migration.state().proposal?.startAt ?? now()) - Date.now();
  if (ms <= 0) return true;
  const isInStep = (state: MigrationState): boolean => state.closed === null && state.step === STEP;
  await migration.awaitCondition((state) => !isInStep(state), { ms, summary: 'Until the agreed start' });
  return isInStep(migration.state()) && !migration.shouldContinueAsNew();
}

/**
 * Returns whether a window is open or there are no windows. If not, waits until the next window opens or something has
 * changed, then returns false.
 */
async function awaitWindow(migration: MigrationContext): Promise<boolean> {
  const { migrationId } = migration.plan;
  const hasChanged = changedSince(migration.state());
  const { window, opensInMs } = await shortActivities.findWindow({ migrationId });
  migration.change((state) => ({ ...state, window }));
  if (opensInMs <= 0) return true;
  await migration.awaitCondition(hasChanged, { ms: opensInMs, summary: 'Until the next window opens' });
  return false;
}

async function chooseFirstCompany(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  const { changesChecked } = migration.state();
  const hasChanged = changedSince(migration.state());
  const chosen = await shortActivities.chooseFirstCompany({ migrationId });
  if (!chosen) {
    // The requested company is not ready or, if none was requested, no company is. Waits for a change, for example a
    // decision that supplies credentials, or for the end of a preflight, which can release a held-back company.
    const choosesAfterCheck = patched('choose-after-check');
    migration.change((state) => ({
      ...state,
      requestedFirst: state.requestedFirst && { ...state.requestedFirst, notReady: true },
    }));
    await migration.awaitCondition(
      (state) => hasChanged(state) || (choosesAfterCheck && state.changesChecked > changesChecked),
    );
    return;
  }
  // A decision may have paused the migration or rejected a step while the company was being chosen.
  if (migration.state().step !== STEP || !mayMove(migration.state())) return;
  const { row, reference } = chosen;
  migration.change((state) => ({
    ...state,
    firstCompany: { row, reference, stage: 'importing', failure: null, evidence: [] },
  }));
}

/** The delay between two checks of the first company. A sync can take more than a day. */
const POLL_DELAY = { shortestMs: 800, longestMs: 5 * 60_000 };

/**
 * Moves the company and polls its sync until its outcome is final, a problem pauses the migration, or the migration
 * should continue as new.
 */
async function moveFirstCompany(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  const { firstCompany } = migration.state();
  if (!firstCompany) return;
  const { row, reference } = firstCompany;
  const nextDelayMs = backoff(POLL_DELAY);
  while (!migration.shouldContinueAsNew()) {
    const hasChanged = changedSince(migration.state());
    const advance = await sliceActivities.advanceFirstCompany.executeWithOptions(
      { summary: `Move and check the first company, ${reference}` },
      [{ migrationId, row, ledgerMark: migration.state().ledgerMark ?? 0 }],
    );
    await refreshCounts(migration, () => ({
      ...('retryInMs' in advance ? {} : { outage: null }),
      ...('result' in advance ? { firstCompany: advance.result } : {}),
    }));
    if ('stop' in advance) {
      // Names the company only if the reason can concern a single company. A refused API key, for example, cannot.
      const company = isIsolated(advance.stop) ? `affected: company ${reference}` : null;
      return pauseMigration(migration, advance.stop, company, { firstCompany: null });
    }
    if ('result' in advance) return;
    // A decision ends the wait, because it can supply something that the company needs, for example a new credential.
    const ms = nextDelayMs(advance.retryInMs, false);
    const outage = outageOf(migration.state(), advance, ms);
    migration.change((state) => ({ ...state, outage }));
    const summary = outage ? outageSummary(outage) : 'Until the first company is checked again';
    await migration.awaitCondition(hasChanged, { ms, summary });
  }
}

type Delay = Extract<FirstCompanyProgress, { readonly retryInMs: number }>;

/**
 * Returns the outage that delays the company; null if there is none. If the outage is already known, its start time is
 * kept.
 */
function outageOf(
  { outage: known }: MigrationState,
  { outageReason: why, outageSource: source = known?.source, outageSince = now() }: Delay,
  retryInMs: number,
): Outage | null {
  if (!why) return null;
  const until = new Date(Date.now() + retryInMs).toISOString();
  return { why, since: known?.since ?? outageSince, until, ...(source && { source }) };
}
