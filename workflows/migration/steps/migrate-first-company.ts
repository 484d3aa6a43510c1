/** Step 5. */
import { movableCompanies } from '../../../domain/companies/company-state';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Outage } from '../../../domain/migration/outage';
import { outageSummary } from '../../../domain/migration/outage';
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import { shortActivities, sliceActivities } from '../../activity-proxies';
import type { MigrationContext } from '../context';
import { now } from '../context';
import { backoff } from '../../backoff';
import { refreshCounts, refreshEstimate, pauseMigration, mayMove, changedSince, awaitWindow } from '../ledger';

const STEP = 'migrate-first-company';

/** One company is moved and proven; support approves it, or says what is tried next. */
export async function firstCompanyProven(desk: MigrationContext): Promise<void> {
  if (!(await startTimeReached(desk))) return;
  const wanted = (state: MigrationState): boolean => state.wantedFirst !== null || movableCompanies(state.counts) > 0;
  if (desk.state().firstCompany === null) {
    if (!(await desk.until((state) => mayMove(state) && wanted(state)))) return;
    if (!(await awaitWindow(desk))) return;
    await chooseFirstCompany(desk);
  }
  if (desk.state().firstCompany?.stage === 'importing') {
    await moveFirstCompany(desk);
    if (desk.state().firstCompany?.stage === 'proven') await refreshEstimate(desk, false);
  }
  const decided = await desk.until((state) => isStepComplete(state, STEP) || state.firstCompany === null);
  if (decided && isStepComplete(desk.state(), STEP)) desk.end(STEP);
}

async function startTimeReached(desk: MigrationContext): Promise<boolean> {
  const ms = Date.parse(desk.state().proposal?.startAt ?? now()) - Date.now();
  if (ms <= 0) return true;
  // A turn to another step ends the wait early.
  const here = (state: MigrationState): boolean => state.closed === null && state.step === STEP;
  await desk.whileNothing((state) => !here(state), { ms, summary: 'Until the agreed start' });
  return here(desk.state()) && !desk.historyIsLong();
}

async function chooseFirstCompany(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  const isNews = changedSince(desk);
  const chosen = await shortActivities.chooseFirstCompany({
    migrationId,
    wanted: desk.state().wantedFirst?.reference ?? null,
  });
  if (!chosen) {
    // The company that was asked for cannot be moved as it is: whatever may change that is a decision.
    desk.change((state) => ({ ...state, wantedFirst: state.wantedFirst && { ...state.wantedFirst, heldUp: true } }));
    await desk.whileNothing(isNews);
    return;
  }
  // Somebody may have paused, or taken a step back, while the company was chosen.
  if (desk.state().step !== STEP || !mayMove(desk.state())) return;
  const { row, reference } = chosen;
  desk.change((state) => ({
    ...state,
    firstCompany: { row, reference, stage: 'importing', failure: null, evidence: [] },
  }));
}

/** Between two looks at the first company; a sync may take more than a day. */
const WAIT = { shortestMs: 800, longestMs: 5 * 60_000 };

/** Until something final is known of it, or the history has to be cut: then the next one goes on looking. */
async function moveFirstCompany(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  const { firstCompany } = desk.state();
  if (!firstCompany) return;
  const { row, reference } = firstCompany;
  const wait = backoff(WAIT);
  while (!desk.historyIsLong()) {
    const isNews = changedSince(desk);
    const advance = await sliceActivities.advanceFirstCompany.executeWithOptions(
      { summary: `Move and check the first company, ${reference}` },
      [{ migrationId, row }],
    );
    await refreshCounts(desk, () => ({
      ...('againInMs' in advance ? {} : { standstill: null }),
      ...('result' in advance ? { firstCompany: advance.result } : {}),
    }));
    if ('stop' in advance) return pauseMigration(desk, advance.stop, { firstCompany: null });
    if ('result' in advance) return;
    // A credential supplied, or a resume, is looked at without waiting.
    const ms = wait(advance.againInMs, false);
    const standstill = heldUp(desk.state(), advance.heldUpBy, ms);
    desk.change((state) => ({ ...state, standstill }));
    const summary = standstill ? outageSummary(standstill) : 'Until the next look at the first company';
    await desk.whileNothing(isNews, { ms, summary });
  }
}

function heldUp({ standstill }: MigrationState, why: string | null, ms: number): Outage | null {
  if (!why) return null;
  return { why, since: standstill?.since ?? now(), until: new Date(Date.now() + ms).toISOString() };
}
