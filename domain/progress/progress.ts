/** How far a migration is and who has to do what next: what queries answer, and what every screen shows. */
import type { Counts } from '../companies/company-state';
import { movableCompanies, openCompanies } from '../companies/company-state';
import { missingApprovals } from '../decisions/approvals';
import type { ReviewedState } from '../decisions/digests';
import { digestOf } from '../decisions/digests';
import type { Estimate } from '../planning/estimate';
import type {
  Approval,
  Ending,
  FirstCompany,
  MigrationState,
  Pause,
  Preflight,
  Proposal,
  WantedFirst,
} from '../migration/migration-state';
import { moment } from '../text/moments';
import type { MigrationPlan } from '../migration/plan';
import type { Route } from '../../platforms/platforms';
import type { Outage } from '../migration/outage';
import type { Role, Step } from '../migration/steps';
import { STEPS, stepNumber, stepsOf } from '../migration/steps';
import type { WindowOccurrence, Window } from '../planning/windows';
import { counted } from '../text/sentences';

export interface WaitingFor {
  /** Empty: nobody, the migration works by itself. */
  readonly roles: readonly Role[];
  /** What they have to do, or what is being done, in one sentence. */
  readonly what: string;
}

export interface StepProgress {
  readonly step: Step;
  readonly state: 'done' | 'open' | 'later';
  readonly openedAt: string | null;
  readonly endedAt: string | null;
  readonly approvals: readonly Approval[];
}

export type OverallState = 'running' | 'waiting' | 'paused' | Ending;

/** Everything about a migration that fits on one screen. Times are ISO 8601, UTC. */
export interface Progress {
  readonly migrationId: string;
  readonly route: Route;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly state: OverallState;
  readonly step: Step;
  readonly waitingFor: WaitingFor;
  /** Null: nobody is waited for. */
  readonly waitingSince: string | null;
  readonly steps: readonly StepProgress[];
  readonly counts: Counts;
  /** Of what there is to decide about in each step: a decision can carry the one that its sender saw. */
  readonly digests: Readonly<Record<Step, string>>;
  readonly windows: readonly Window[];
  readonly preflight: Preflight | null;
  /** Something that was supplied is still to be checked; until then the preflight is that of before, or none. */
  readonly checking: boolean;
  readonly estimate: Estimate | null;
  readonly proposal: Proposal | null;
  readonly opening: WindowOccurrence | null;
  readonly firstCompany: FirstCompany | null;
  /** The company that is to go first; null: the first that can be moved. */
  readonly wantedFirst: WantedFirst | null;
  /** What is under way waits, because nothing gets through to the service or its platform. */
  readonly standstill: Outage | null;
  readonly pause: Pause | null;
}

export function progressOf(plan: MigrationPlan, state: MigrationState): Progress {
  const { windows } = state.limits;
  const waitingFor = waitingForOf(state);
  return {
    migrationId: plan.migrationId,
    route: state.route,
    client: plan.client,
    platformKey: plan.platformKey,
    contact: plan.contact,
    state: state.closed ?? (state.pause ? 'paused' : waitingFor.roles.length > 0 ? 'waiting' : 'running'),
    step: state.step,
    waitingFor,
    waitingSince: waitingFor.roles.length > 0 ? (state.wait?.since ?? null) : null,
    steps: stepsOf(state.route).map((step) => stepProgress(state, step)),
    counts: state.counts,
    digests: digestsOf({ ...state, windows }),
    windows,
    preflight: state.preflight,
    checking: isChecking(state),
    estimate: state.estimate,
    proposal: state.proposal,
    opening: state.opening,
    firstCompany: state.firstCompany,
    wantedFirst: state.wantedFirst,
    standstill: state.standstill,
    pause: state.pause,
  };
}

export function digestsOf(seen: ReviewedState): Progress['digests'] {
  return Object.fromEntries(STEPS.map((step) => [step, digestOf(step, seen)])) as Record<Step, string>;
}

function stepProgress(state: MigrationState, step: Step): StepProgress {
  const times = state.steps[step];
  const done = state.closed === 'completed' || stepNumber(step) < stepNumber(state.step);
  return {
    step,
    state: done ? 'done' : step === state.step ? 'open' : 'later',
    openedAt: times?.openedAt ?? null,
    endedAt: times?.endedAt ?? null,
    approvals: state.approvals.filter((approval) => approval.step === step),
  };
}

const nobody = (what: string): WaitingFor => ({ roles: [], what });
const client = (what: string): WaitingFor => ({ roles: ['client'], what });
const support = (what: string): WaitingFor => ({ roles: ['support'], what });

/** Who has to act, and on what. */
export function waitingForOf(state: MigrationState): WaitingFor {
  if (state.closed) return nobody(`the migration is ${state.closed}`);
  // Whoever looks right after a decision shall not take for waited for what has just been supplied.
  if (state.route === 'self-service' && state.unrecorded.length > 0)
    return nobody('what was decided is being carried out');
  const waitedFor = state.pause ? support(`paused: ${state.pause.reason}`) : inStep(state);
  // There the client is alone.
  return state.route === 'self-service' && waitedFor.roles.length > 0 ? client(waitedFor.what) : waitedFor;
}

function inStep(state: MigrationState): WaitingFor {
  const { step, counts } = state;
  switch (step) {
    case 'supply-details':
      if (!state.preflight) return nobody('the supplied details are being checked');
      if (state.preflight.problems.length > 0)
        return client(`details to correct: ${state.preflight.problems.join('; ')}`);
      if (state.route === 'self-service') return nobody('the companies are moved now');
      return support('accept the supplied details');
    case 'schedule':
      if (!state.proposal) return { roles: ['client', 'support'], what: 'propose a time to start' };
      return { roles: missingApprovals(state, step), what: `approve the start at ${moment(state.proposal.startAt)}` };
    case 'update-application':
      return {
        roles: missingApprovals(state, step),
        what: `confirm that the application at the platform has the callback URL ${state.preflight?.callbackUrl ?? ''}`.trimEnd(),
      };
    case 'disable-syncing':
      return client(`confirm for ${confirmationsLacking(counts)} that syncing is disabled`);
    case 'migrate-first-company':
      return duringFirstCompany(state);
    case 'complete-migration':
      return duringTheRest(state);
  }
}

/** Whoever looks sees why nothing moves, and when it is tried again. */
function heldUp({ why, since, until }: Outage): WaitingFor {
  return nobody(`held up since ${moment(since)}, tried again by itself at ${moment(until)}: ${why}`);
}

/** Of the wave that goes first; the others are confirmed when it is their turn. */
function confirmationsLacking({ unconfirmed, unconfirmedInFirstWave, total }: Counts): string {
  return unconfirmedInFirstWave === unconfirmed
    ? `${unconfirmed} of ${counted(total, 'company')}`
    : `${counted(unconfirmedInFirstWave, 'company')} of the first wave`;
}

/** The start that was agreed, or the window that opens after it. */
function firstMoment(opening: WindowOccurrence | null, proposal: Proposal | null): string {
  const startAt = proposal?.startAt ?? null;
  const at = opening && (startAt === null || opening.opensAt > startAt) ? opening.opensAt : startAt;
  return at === null ? 'now' : moment(at);
}

function duringFirstCompany(state: MigrationState): WaitingFor {
  const { firstCompany, wantedFirst, proposal, opening, standstill, counts } = state;
  switch (firstCompany?.stage) {
    case 'importing':
      if (standstill) return heldUp(standstill);
      return nobody(`the first company, ${firstCompany.reference}, is being moved and checked`);
    case 'proven':
      return support(`approve the first company, ${firstCompany.reference}`);
    case 'failed':
      return support(`the first company, ${firstCompany.reference}, was not moved: say what is tried next`);
    case undefined:
      if (wantedFirst?.heldUp) {
        return {
          roles: ['client', 'support'],
          what: `supply what ${wantedFirst.reference} lacks, which is to go first, or choose another company`,
        };
      }
      if (wantedFirst === null && movableCompanies(counts) === 0) return nothingMovable(state);
      return nobody(`the first company is moved from ${firstMoment(opening, proposal)} on`);
  }
}

function isChecking({ preflight, changes, changesChecked }: MigrationState): boolean {
  return preflight === null || changes > changesChecked;
}

/** What lacks before any company can be moved, of everybody who can supply or settle it. */
function nothingMovable(state: MigrationState): WaitingFor {
  const { unconfirmed, withoutCredential, heldBack, outcomeUnknown } = state.counts;
  const checking = isChecking(state);
  const of = (number: number): string => counted(number, 'company');
  const lacking = [
    {
      who: 'client',
      companies: unconfirmed,
      what: `disable syncing for ${of(unconfirmed)} not confirmed yet, confirm it and supply the credentials`,
    },
    { who: 'client', companies: withoutCredential, what: `supply the credentials of ${of(withoutCredential)}` },
    {
      who: 'client',
      companies: checking ? 0 : heldBack,
      what: `correct or leave out ${of(heldBack)} that cannot be moved as ${heldBack === 1 ? 'it is' : 'they are'}`,
    },
    { who: 'support', companies: outcomeUnknown, what: `settle ${of(outcomeUnknown)} whose outcome is unknown` },
  ] as const;
  const there = lacking.filter(({ companies }) => companies > 0);
  if (there.length > 0) {
    return { roles: [...new Set(there.map(({ who }) => who))], what: there.map(({ what }) => what).join('; ') };
  }
  if (checking) return nobody('what was added or corrected is being checked');
  return support('no company is left to be moved: add companies, or cancel the migration');
}

/** What comes next in windows is known only when a run begins; before, the present opening is the next one. */
function withinOpening({ opening }: MigrationState): string {
  return opening ? `, in the window from ${moment(opening.opensAt)} to ${moment(opening.closesAt)}` : '';
}

function duringTheRest(state: MigrationState): WaitingFor {
  const { counts } = state;
  const open = openCompanies(counts);
  if (open === 0 && state.route === 'self-service') return duringTheEnd(counts);
  if (open === 0) return { roles: missingApprovals(state, 'complete-migration'), what: 'sign off the handover' };
  if (movableCompanies(counts) === 0) return nothingMovable(state);
  if (state.schedule === 'paused' && state.opened?.opensAt !== state.opening?.opensAt)
    return support('resume the windows, which are paused: until then no company is started');
  if (state.standstill) return heldUp(state.standstill);
  return nobody(`the remaining companies are being moved${withinOpening(state)}`);
}

/** In the self-service route nobody signs off: whatever was not moved is settled. */
function duringTheEnd({ failed }: Counts): WaitingFor {
  if (failed === 0) return nobody('every company is moved or settled: the migration ends');
  return client(`say what becomes of ${counted(failed, 'company')} not moved`);
}
