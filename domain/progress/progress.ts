/** The progress of a migration: the answer to queries, and the source of every view. */
import type { Counts } from '../companies/counts';
import { digestOf, suppliersOf, type ReviewedState } from '../decisions/guards';
import { signingRules, type SigningRules } from '../migration/approvers';
import type { Preflight } from '../migration/preflight-result';
import {
  isEnding,
  type Approval,
  type ChosenFirstCompany,
  type EndedBy,
  type Ending,
  type FirstCompany,
  type MigrationState,
  type Pause,
  type Proposal,
  type Reopened,
  type Revisions,
} from '../migration/migration-state';
import type { Outage } from '../migration/outage';
import type { MigrationPlan } from '../migration/plan';
import { areWindowsPaused, isPaused, pausesOf, pauseText } from '../migration/pauses';
import { endedInTemporalText, type EndedInTemporal } from '../migration/terminated';
import { roleText, STEP_RULES, STEPS, stepNumber, stepsOf, type Role, type Step } from '../migration/steps';
import type { Estimate } from '../planning/estimate';
import type { Throughput } from '../planning/throughput';
import type { Window, WindowOccurrence } from '../planning/windows';
import { momentText, oneLine } from '../text/sentences';
import type { Route } from '../../platforms/platforms';
import { isChecking, waitingForOf, type WaitingFor } from './waiting-for';

export interface StepProgress {
  readonly step: Step;
  readonly state: 'done' | 'open' | 'later';
  readonly openedAt: string | null;
  readonly endedAt: string | null;
  readonly approvals: readonly Approval[];
}

/** `terminated`: the workflow has ended in Temporal, but the migration has not ended ({@link EndedInTemporal}). */
export type OverallState = 'running' | 'waiting' | 'paused' | 'terminated' | Ending;

/** The progress of a migration, short enough for one screen. Times are ISO 8601, UTC. */
export interface Progress {
  readonly migrationId: string;
  readonly route: Route;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly state: OverallState;
  readonly step: Step;
  readonly waitingFor: WaitingFor;
  /** Null if no person has to act. */
  readonly waitingSince: string | null;
  readonly steps: readonly StepProgress[];
  readonly counts: Counts;
  /** For each step, the digest of the facts that people review. A decision can contain this digest. */
  readonly digests: Readonly<Record<Step, string>>;
  /** For each step, the id of the latest decision that changed the reviewed facts. The digests include it. */
  readonly revisions?: Revisions;
  readonly windows: readonly Window[];
  readonly preflight: Preflight | null;
  /** True if supplied details are still to be checked. `preflight` is then the previous result, or null. */
  readonly checking: boolean;
  readonly estimate: Estimate | null;
  /** The throughput when the companies were last counted; null if it is not known yet. Input of `forecastOf`. */
  readonly throughput: Throughput | null;
  /**
   * The companies that depend on an application that was replaced after they were connected, by the latest count.
   * Absent in an answer of an earlier version.
   */
  readonly replacedApplication?: number;
  /** The current limit; null if there is none. Absent in an answer of an earlier version. */
  readonly companiesPerMinute?: number | null;
  readonly proposal: Proposal | null;
  /**
   * How many companies are waiting for their end customer to reconnect, and when this was last checked (null if never).
   * Absent in an answer of an earlier version.
   */
  readonly reconnections?: { readonly waiting: number; readonly checkedAt: string | null };
  readonly window: WindowOccurrence | null;
  /** The window that was opened last; null if none was. Absent in an answer of an earlier version. */
  readonly openedWindow?: WindowOccurrence | null;
  /** See `areWindowsPaused`. False without windows. Absent in an answer of an earlier version. */
  readonly areWindowsPaused?: boolean;
  /**
   * True if the windows were paused during a batch run: moves continue until the open window closes, and no further
   * window opens. Absent in an answer of an earlier version.
   */
  readonly noFurtherWindow?: boolean;
  readonly firstCompany: FirstCompany | null;
  /** The company that was chosen to go first; null: the first company that can be moved goes first. */
  readonly requestedFirst: ChosenFirstCompany | null;
  /** The current outage; null if calls get through. */
  readonly outage: Outage | null;
  /** The automatic pause, or else the oldest pause by a person; null if the migration is not paused. */
  readonly pause: Pause | null;
  /** All pauses, the automatic pause first. Absent in an answer of an earlier version. */
  readonly pauses?: readonly Pause[];
  /**
   * Who reopened a step, rejected its result or withdrew a sign-off, and why; null if there was no such decision, if it
   * is no longer kept ({@link Reopened}), or if the migration has ended.
   */
  readonly reopened: Reopened | null;
  /** Whose decisions must be signed, and with which keys. */
  readonly signing: SigningRules;
  /** The people who have supplied details; null without the four-eyes rule. Absent in an earlier version's answer. */
  readonly fourEyes?: { readonly suppliers: readonly string[] } | null;
  /** Who cancelled or abandoned the migration, and why; null if it did not end in this way. */
  readonly endedBy: EndedBy | null;
  /** How and when the workflow ended in Temporal. Absent unless `state` is `terminated`. */
  readonly endedInTemporal?: EndedInTemporal;
}

export function progressOf(plan: MigrationPlan, state: MigrationState): Progress {
  const { windows } = state.limits;
  const revisions = state.revisions ?? {};
  const waitingFor = waitingForOf(state);
  return {
    migrationId: plan.migrationId,
    route: state.route,
    client: plan.client,
    platformKey: plan.platformKey,
    contact: plan.contact,
    state: state.closed ?? (isPaused(state) ? 'paused' : waitingFor.roles.length > 0 ? 'waiting' : 'running'),
    step: state.step,
    waitingFor,
    waitingSince: waitingFor.roles.length > 0 ? (state.wait?.since ?? null) : null,
    steps: stepsOf(state.route).map((step) => stepProgress(state, step)),
    counts: state.counts,
    digests: digestsOf({ ...state, windows, revisions }),
    revisions,
    windows,
    preflight: state.preflight,
    checking: isChecking(state),
    estimate: state.estimate,
    throughput: state.throughput ?? null,
    replacedApplication: state.replacedApplication ?? 0,
    companiesPerMinute: state.limits.companiesPerMinute,
    proposal: state.proposal,
    reconnections: { waiting: state.relinking, checkedAt: state.reconnections?.checkedAt ?? null },
    window: state.window,
    openedWindow: state.openedWindow,
    areWindowsPaused: windows.length > 0 && areWindowsPaused(state),
    noFurtherWindow: windows.length > 0 && state.noFurtherWindow === true,
    firstCompany: state.firstCompany,
    requestedFirst: state.requestedFirst,
    outage: state.outage,
    pause: pausesOf(state)[0] ?? null,
    pauses: pausesOf(state),
    signing: signingRules(plan.decisions.approvers, state.approverChanges),
    fourEyes: plan.decisions.fourEyes ? { suppliers: [...new Set(suppliersOf(state))] } : null,
    reopened: state.closed === null ? (state.reopened ?? null) : null,
    endedBy: state.endedBy ?? null,
  };
}

/** Returns the digest of every step. */
export function digestsOf(state: ReviewedState): Progress['digests'] {
  return Object.fromEntries(STEPS.map((step) => [step, digestOf(step, state)])) as Record<Step, string>;
}

function stepProgress(state: MigrationState, step: Step): StepProgress {
  const times = state.steps[step];
  const done = state.closed === 'completed' || stepNumber(step) < stepNumber(state.step);
  return {
    step,
    state: done ? 'done' : step === state.step ? 'open' : 'later',
    openedAt: done ? (times?.openedAt ?? null) : reopenedAt(state, step),
    endedAt: times?.endedAt ?? null,
    approvals: state.approvals.filter((approval) => approval.step === step),
  };
}

function reopenedAt({ steps, reopened, closed }: MigrationState, step: Step): string | null {
  const openedAt = steps[step]?.openedAt ?? null;
  // Only steps 1 to 4 are reopened. In steps 5 and 6, a rejection concerns a result, and the step stays open.
  const isReopened =
    openedAt !== null &&
    closed === null &&
    reopened?.step === step &&
    stepNumber(step) < stepNumber('migrate-first-company');
  return isReopened && reopened.at > openedAt ? reopened.at : openedAt;
}

/** Returns whether a step has ended. */
export const isStepDone = ({ steps }: Pick<Progress, 'steps'>, asked: Step): boolean =>
  steps.some(({ step, state }) => step === asked && state === 'done');

/** Returns the step that a migration has reached, or how it ended: one line for lists and headings. */
export function headline(progress: Progress): string {
  if (isEnding(progress.state)) return progress.state;
  if (progress.endedInTemporal) return `${endedInTemporalText(progress.endedInTemporal)}, so no company moves`;
  const where = progress.route === 'self-service' ? selfServiceText(progress) : stepText(progress);
  return progress.state === 'paused' ? `${where} (paused)` : where;
}

function stepText({ step }: Progress): string {
  return `step ${stepNumber(step)} of ${STEPS.length}, ${STEP_RULES[step].title.toLowerCase()}`;
}

/** Describes the progress of a self-service migration, whose steps are not shown to people. */
function selfServiceText({ step, state, preflight }: Progress): string {
  if (step === 'supply-details') {
    const hasProblems = state === 'paused' && preflight !== null && preflight.problems.length > 0;
    const isWaiting = state === 'waiting' || hasProblems;
    return `self-service, ${isWaiting ? 'waiting for corrected details' : 'checking the supplied details'}`;
  }
  return `self-service, ${state === 'waiting' ? 'waiting for the client' : 'moving the companies'}`;
}

const MAX_REASON_LENGTH = 1_000;

/** Returns all pauses, the automatic pause first; empty unless the migration is open and paused. */
export function pausesIn({ state, pause, pauses }: Pick<Progress, 'state' | 'pause' | 'pauses'>): readonly Pause[] {
  if (state !== 'paused') return [];
  return pauses ?? (pause === null ? [] : [pause]);
}

/** Says what follows from a resume of a migration with failures. */
export const FAILURES_ACCEPTED =
  'earlier failures no longer count towards the limits at which the migration pauses itself';

/** Returns whether companies have failed or have an unknown outcome. A resume accepts these failures. */
export const hasFailuresToAccept = ({ counts }: Pick<Progress, 'counts'>): boolean =>
  counts.failed + counts.outcomeUnknown > 0;

/** Returns who paused, since when and why, one line per person. `waitingFor` explains an automatic pause. */
export function pausedTexts(progress: Progress): readonly string[] {
  return pausesIn(progress)
    .filter(({ stopReason }) => stopReason === null)
    .map(pauseText);
}

/**
 * Returns who reopened a step or rejected its result, when and why, and who has approved it since, on one line; null if
 * `reopened` is null. If the rejected first company has been checked again since, adds when.
 *
 * The state does not show whether the rejection of a step has reopened it. So the text says `reopened` only for a
 * proposal, which is recorded here only if it reopened step 2. A state of an earlier version does not show whether
 * step 2 was rejected or reopened by a proposal, so the text then says `reopened or rejected`.
 */
export function reopenedText(
  progress: Pick<Progress, 'reopened'> & Partial<Pick<Progress, 'firstCompany' | 'steps'>>,
): string | null {
  const { reopened, firstCompany } = progress;
  if (!reopened) return null;
  const { by, role, at, reason, company, asksForChanges } = reopened;
  const why = reason === null ? '' : `: ${reason}`;
  const since = asksForChanges ? '; nothing has been changed since' : approvedSinceText(progress);
  const checkedAt =
    company !== undefined && firstCompany?.reference === company ? (firstCompany?.checkedAt ?? null) : null;
  const again = checkedAt !== null && checkedAt > at ? `; checked again at ${momentText(checkedAt)}` : '';
  return (
    oneLine(`${reopeningText(reopened)} by ${by} (${role}) at ${momentText(at)}${why}`, MAX_REASON_LENGTH) +
    since +
    again
  );
}

function reopeningText({ step, company, proposed, withdrawn }: NonNullable<Progress['reopened']>): string {
  if (withdrawn) return `Sign-off of ${withdrawn.map(roleText).join(' and ')} withdrawn`;
  if (step === 'complete-migration') return 'Handover rejected';
  if (step === 'migrate-first-company') return `First company${company === undefined ? '' : ` ${company}`} rejected`;
  if (step === 'schedule' && proposed === undefined) return 'Step 2 reopened or rejected';
  return `Step ${stepNumber(step)} ${proposed ? 'reopened' : 'rejected'}`;
}

/** Returns the roles that have approved a step since the other role reopened it or rejected its result. */
export function approvedSince({
  reopened,
  steps = [],
}: Pick<Progress, 'reopened'> & Partial<Pick<Progress, 'steps'>>): readonly Role[] {
  if (!reopened || reopened.withdrawn) return [];
  const approvals = steps.find(({ step }) => step === reopened.step)?.approvals ?? [];
  return approvals.flatMap(({ role, at }) => (role !== reopened.role && at >= reopened.at ? [role] : []));
}

function approvedSinceText(progress: Parameters<typeof approvedSince>[0]): string {
  const roles = approvedSince(progress);
  if (roles.length === 0) return '';
  const what = progress.reopened?.step === 'complete-migration' ? 'signed off' : 'approved the step';
  return `; ${roles.map(roleText).join(' and ')} ${what} afterwards`;
}

/** Returns who cancelled or abandoned a migration, when and why, on one line; null if `endedBy` is null. */
export function endedByText({ endedBy }: Progress): string | null {
  if (!endedBy) return null;
  const { by, role, at, reason } = endedBy;
  return oneLine(`by ${by} (${role}) at ${momentText(at)}${reason === null ? '' : `: ${reason}`}`, MAX_REASON_LENGTH);
}
