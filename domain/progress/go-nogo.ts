/**
 * Go or no-go: the questions to answer before a window opens while nobody is watching. The caller gathers the facts.
 */
import { headline, pausedText, reopenedText } from './progress';
import type { MigrationLimits } from '../planning/limits';
import { exceedsTolerance } from '../planning/limits';
import { momentText, counted, hoursText, outOf } from '../text/sentences';
import type { Platform, Route } from '../../platforms/platforms';
import type { MigrationApplications } from '../preflight/applications';
import type { ServiceFacts } from '../preflight/preflight';
import { isApplicationNeeded, preflight } from '../preflight/preflight';
import type { PreflightFinding } from '../preflight/findings';
import type { Forecast } from './forecast';
import { remainingWork } from './forecast';
import type { Progress } from './progress';
import { STEP_RULES, stepNumber } from '../migration/steps';
import { endWithin, windowOccurrences } from '../planning/windows';
import type { WindowOccurrence } from '../planning/windows';

/** The companies that move next: the lowest wave with waiting companies. */
export interface NextCompanies {
  /** Null if the companies have no wave. */
  readonly wave: number | null;
  readonly companies: number;
  readonly unconfirmed: number;
  readonly withoutCredential: number;
  /** When the oldest of their credentials was obtained. ISO 8601, UTC; null if they have no credentials. */
  readonly oldestCredentialAt: string | null;
}

export interface GoNoGoFacts {
  readonly migrationId: string;
  /** ISO 8601, UTC. */
  readonly now: string;
  readonly route: Route;
  readonly platform: Platform;
  readonly contact: string;
  readonly limits: MigrationLimits;
  readonly next: NextCompanies;
  /** Number of companies that will be created in the account. */
  readonly toCreate: number;
  /**
   * `failed`: companies that were not moved or whose outcome is unknown, except those whose failure was accepted when
   * the migration was resumed. `tried`: companies whose move was attempted.
   */
  readonly failures: { readonly failed: number; readonly tried: number };
  /** When the remaining companies will have been moved; null if there is no forecast. */
  readonly forecast: Forecast | null;
  /** Null if no worker is answering queries about the migration. */
  readonly progress: Progress | null;
  /** Who paused the windows, and why; null if they are not paused or there are none. */
  readonly windowsPaused: string | null;
  /** Numbers of workers that are polling Temporal for tasks. */
  readonly workers: { readonly workflows: number; readonly activities: number };
  /** Errors of activities that keep failing and are being retried. */
  readonly failing: readonly string[];
  readonly service: ServiceFacts | { readonly refused: string } | { readonly unreachable: string };
  /** The client's application in this migration and in other open migrations. */
  readonly applications: MigrationApplications;
}

export interface Answer {
  readonly check:
    | 'decisions'
    | 'window'
    | 'sync-disabled'
    | 'credentials'
    | 'companies'
    | 'account'
    | 'application'
    | 'service'
    | 'worker';
  readonly go: boolean;
  /** One sentence. */
  readonly why: string;
}

export interface GoNoGo {
  readonly go: boolean;
  /** The current or next window; null if moves can begin at any time. */
  readonly window: WindowOccurrence | null;
  readonly answers: readonly Answer[];
  /** The conditions under which the migration pauses itself while nobody is watching. Each completes "pauses if ...". */
  readonly pauseNotes: readonly string[];
  /** Sentences about what does not pause the migration, when moves stop, and when the last company has been moved. */
  readonly notes: readonly string[];
  readonly contact: string;
}

export function goNoGo(facts: GoNoGoFacts): GoNoGo {
  const window = nextWindow(facts);
  const answers = [
    decisionAnswer(facts),
    ...windowAnswers(facts),
    ...companyAnswers(facts),
    ...accountAnswers(facts),
    workerAnswer(facts),
  ];
  return {
    go: answers.every(({ go }) => go),
    window,
    answers,
    pauseNotes: pauseConditions(facts),
    notes: notes(facts, window),
    contact: facts.contact,
  };
}

function nextWindow({ now, limits, progress }: GoNoGoFacts): WindowOccurrence | null {
  const startAt = progress?.proposal?.startAt;
  return windowOccurrences(limits.windows, startAt !== undefined && startAt > now ? startAt : now)[0] ?? null;
}

/** Checks that the migration has reached step 5 or 6, is not paused, and waits for nobody. */
function decisionAnswer({ progress }: GoNoGoFacts): Answer {
  const check = 'decisions';
  if (!progress) return { check, go: false, why: 'unknown: no worker is answering for this migration' };
  const { route, step, state, waitingFor } = progress;
  const where =
    route === 'self-service' ? headline(progress) : `step ${stepNumber(step)}, ${STEP_RULES[step].title.toLowerCase()}`;
  if (state === 'running' && stepNumber(step) > stepNumber('disable-syncing')) {
    return { check, go: true, why: `no decision is needed (${where})` };
  }
  if (waitingFor.roles.length === 0) return { check, go: false, why: `${waitingFor.what} (${where})` };
  const paused = pausedText(progress);
  const reopened = reopenedText(progress);
  return {
    check,
    go: false,
    why: `${paused === null ? '' : `paused ${paused}; `}${reopened === null ? '' : `${reopened}; `}waiting for ${waitingFor.roles.join(' and ')}: ${waitingFor.what} (${where})`,
  };
}

function windowAnswers({ windowsPaused, migrationId }: GoNoGoFacts): readonly Answer[] {
  if (windowsPaused === null) return [];
  return [
    {
      check: 'window',
      go: false,
      why: `no window opens (${windowsPaused}); resume the windows with: ferry schedule resume ${migrationId}`,
    },
  ];
}

function companyAnswers({ next, progress }: GoNoGoFacts): readonly Answer[] {
  const ofWave = next.wave === null ? '' : ` of wave ${next.wave}`;
  const { unconfirmed } = next;
  return [
    {
      check: 'sync-disabled',
      go: unconfirmed === 0,
      why:
        unconfirmed === 0
          ? `the client has confirmed that syncing is off for every company${ofWave}`
          : `the client has not confirmed that syncing is off for ${counted(unconfirmed, 'company')}${ofWave}`,
    },
    credentialAnswer(next, ofWave),
    movableAnswer(next, progress, ofWave),
  ];
}

function credentialAnswer(next: NextCompanies, ofWave: string): Answer {
  const { companies, unconfirmed, withoutCredential, oldestCredentialAt } = next;
  const check = 'credentials';
  if (companies > 0 && unconfirmed === companies) {
    return { check, go: false, why: `no company${ofWave} is confirmed yet, so no credential can be used` };
  }
  if (withoutCredential > 0) {
    const missing = counted(withoutCredential, 'confirmed company');
    return { check, go: false, why: `a usable credential is missing for ${missing}${ofWave}` };
  }
  const oldest = oldestCredentialAt === null ? '' : `; the oldest is from ${momentText(oldestCredentialAt)}`;
  return { check, go: true, why: `every confirmed company${ofWave} has a usable credential${oldest}` };
}

/** Checks that a company can be moved or is moving. */
function movableAnswer(next: NextCompanies, progress: Progress | null, ofWave: string): Answer {
  const { companies, unconfirmed, withoutCredential } = next;
  const ready = companies - unconfirmed - withoutCredential;
  const { heldBack = 0, importing = 0, syncing = 0 } = progress?.counts ?? {};
  const moving = importing + syncing;
  const missing = [
    ...(unconfirmed === 0 ? [] : [`${unconfirmed.toLocaleString('en-US')} not confirmed`]),
    ...(withoutCredential === 0 ? [] : [`${withoutCredential.toLocaleString('en-US')} without a usable credential`]),
  ].join(', ');
  const canMove =
    ready + moving > 0
      ? `${counted(ready, 'company')}${ofWave} can be moved`
      : companies > 0
        ? `none of ${counted(companies, 'company')}${ofWave} can be moved yet (${missing})`
        : 'no company is waiting to be moved';
  return {
    check: 'companies',
    go: ready + moving > 0,
    why: [
      canMove,
      ...(moving === 0 ? [] : [`${counted(moving, 'company')} moving`]),
      ...(heldBack === 0 ? [] : [`${counted(heldBack, 'company')} held back by the preflight`]),
    ].join(', '),
  };
}

/** Repeats the preflight's checks of the account and the application. */
function accountAnswers(facts: GoNoGoFacts): readonly Answer[] {
  const { route, platform, service, toCreate, applications } = facts;
  if ('unreachable' in service) return [{ check: 'service', go: false, why: service.unreachable }];
  const findings = preflight({
    route,
    platform,
    isStarted: true,
    toCreate,
    service,
    applications,
    endsBy: endsBy(facts),
  });
  if ('refused' in service) return [{ check: 'service', go: false, why: service.refused }];
  const { account, application } = service;
  const ofApplication = ({ code }: PreflightFinding): boolean => code.startsWith('application-');
  return [
    { check: 'service', go: true, why: 'the service is answering' },
    answerFrom(
      'account',
      findings.filter((finding) => !ofApplication(finding)),
      `plan ${account.plan}, ${account.expiresAt === null ? 'does not expire' : `expires at ${momentText(account.expiresAt)}`}`,
    ),
    answerFrom('application', findings.filter(ofApplication), applicationText(facts, application)),
  ];
}

/**
 * Returns the latest time at which the last company could be moved. If the end depends on people or on an outage, it is
 * counted from now.
 *
 * @returns ISO 8601, UTC; null if more than a year from now; undefined if there is no estimate
 */
function endsBy({ forecast, progress, limits, now }: GoNoGoFacts): string | null | undefined {
  if (forecast) return forecast.ends?.latest ?? null;
  const work = progress && remainingWork(progress);
  return work ? endWithin(limits.windows, now, work.highMs) : undefined;
}

function applicationText({ route, platform }: GoNoGoFacts, application: ServiceFacts['application']): string {
  if (!isApplicationNeeded(route, platform)) return `not needed: ${platform.name} tokens are never refreshed`;
  return application ? `${application.clientId} (${application.environment})` : 'not shown by the service';
}

/** Answers with the findings. Only errors are a no-go. Warnings are reported if there are no errors. */
function answerFrom(check: Answer['check'], findings: readonly PreflightFinding[], good: string): Answer {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const reported = errors.length > 0 ? errors : findings;
  return {
    check,
    go: errors.length === 0,
    why: reported.length === 0 ? good : reported.map(({ message }) => message).join('; '),
  };
}

function workerAnswer({ workers, progress, failing }: GoNoGoFacts): Answer {
  const check = 'worker';
  if (!progress && failing.length > 0) return { check, go: false, why: failing.join('; ') };
  if (!progress || workers.workflows === 0 || workers.activities === 0) {
    return { check, go: false, why: 'no worker is answering, or none is polling for tasks; start a worker' };
  }
  if (failing.length > 0) return { check, go: false, why: `activities keep failing: ${failing.join('; ')}` };
  return { check, go: true, why: 'a worker answers' };
}

function pauseConditions({ limits, failures, platform }: GoNoGoFacts): readonly string[] {
  return [
    ...(hasTolerance(limits) ? [toleranceText(limits, failures)] : []),
    'the service rejects the API key, or the account reaches one of its limits or expires (401, 402, 403)',
    `${platform.name} rejects the application for several companies in a row, or several credentials in a row belong to another organization`,
  ];
}

function notes({ limits, failures, forecast }: GoNoGoFacts, window: WindowOccurrence | null): readonly string[] {
  return [
    ...(hasTolerance(limits) ? [] : [`companies that are not moved never pause the migration ${soFar(failures)}`]),
    'an outage of the service or the platform does not pause the migration, which waits and retries',
    ...(window === null
      ? []
      : [
          `no move begins from ${momentText(window.closesAt)} until the next window; syncing companies are still checked`,
        ]),
    ...endNotes(forecast),
  ];
}

function endNotes(forecast: Forecast | null): readonly string[] {
  if (!forecast?.ends || forecast.staleMs === null) return [];
  const { companies, isComplete, ends, staleMs } = forecast;
  const last = isComplete ? 'the last company' : `the last of ${counted(companies, 'company')} that can be moved now`;
  return [
    `${last} is expected to be moved by ${momentText(ends.latest)} at the latest`,
    `until then, the data of a company can be out of date for up to ${hoursText(staleMs / HOUR_MS)}`,
  ];
}

const HOUR_MS = 3_600_000;

function hasTolerance({ toleratedFailures, toleratedShare }: MigrationLimits): boolean {
  return toleratedFailures !== null || toleratedShare !== null;
}

function soFar({ failed, tried }: GoNoGoFacts['failures']): string {
  return `(${outOf(failed, tried, 'company')} so far)`;
}

function toleranceText(limits: MigrationLimits, failures: GoNoGoFacts['failures']): string {
  const { toleratedFailures, toleratedShare } = limits;
  if (exceedsTolerance(limits, failures))
    return `it tries one more company, because too many were already not moved ${soFar(failures)}`;
  const bounds = [
    ...(toleratedFailures === null ? [] : [`more than ${counted(toleratedFailures, 'company')}`]),
    ...(toleratedShare === null ? [] : [`more than ${Math.round(toleratedShare * 100)}% of those tried`]),
  ];
  return `${bounds.join(' or ')} are not moved ${soFar(failures)}`;
}
