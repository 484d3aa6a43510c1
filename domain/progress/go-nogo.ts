/**
 * Go or no-go before a window: every question that somebody asks who will be asleep when it opens.
 *
 * Pure: whoever asks gathers the facts.
 */
import { headline } from './headline';
import type { MigrationLimits } from '../planning/limits';
import { exceedsTolerance } from '../planning/limits';
import { moment } from '../text/moments';
import type { Platform } from '../../platforms/platforms';
import type { ServiceFacts } from '../preflight/preflight';
import { preflight } from '../preflight/preflight';
import type { PreflightFinding } from '../preflight/preflight-finding';
import type { Progress } from './progress';
import { STEP_RULES, stepNumber } from '../migration/steps';
import { windowOccurrences } from '../planning/windows';
import type { WindowOccurrence } from '../planning/windows';
import { counted } from '../text/sentences';

/** The companies that go next: those of the lowest wave that waits. */
export interface NextCompanies {
  /** Null: they have none. */
  readonly wave: number | null;
  readonly companies: number;
  readonly unconfirmed: number;
  readonly withoutCredential: number;
  /** When the oldest of their credentials was obtained. ISO 8601, UTC; null: there is none. */
  readonly oldestCredentialAt: string | null;
}

export interface GoNoGoFacts {
  /** ISO 8601, UTC. */
  readonly now: string;
  readonly platform: Platform;
  readonly contact: string;
  readonly limits: MigrationLimits;
  readonly next: NextCompanies;
  /** So many companies the account does not have yet. */
  readonly toCreate: number;
  /** Companies that have failed beyond those that support has accepted, of those that were tried. */
  readonly failures: { readonly failed: number; readonly tried: number };
  /** When the last company is moved, at worst. ISO 8601, UTC; null: not within a year. */
  readonly endsBy: string | null;
  /** Null: no worker answers for the migration. */
  readonly progress: Progress | null;
  /** Who paused the windows and why; null: they open by themselves, or there are none. */
  readonly windowsPaused: string | null;
  /** Workers that ask for work, as Temporal knows them. */
  readonly workers: { readonly workflows: number; readonly activities: number };
  /** What keeps failing and is tried again. */
  readonly heldUp: readonly string[];
  readonly service: ServiceFacts | { readonly refused: string } | { readonly unreachable: string };
}

export interface Answer {
  readonly about:
    'decisions' | 'window' | 'freeze' | 'credentials' | 'companies' | 'account' | 'application' | 'service' | 'worker';
  readonly go: boolean;
  /** One sentence. */
  readonly why: string;
}

export interface GoNoGo {
  readonly go: boolean;
  /** The window that is open or opens next; null: companies may be started at any time. */
  readonly opening: WindowOccurrence | null;
  readonly answers: readonly Answer[];
  /** What would pause it, or end it early, while nobody looks. */
  readonly wouldPause: readonly string[];
  readonly contact: string;
}

export function goNoGo(facts: GoNoGoFacts): GoNoGo {
  const opening = nextOpening(facts);
  const answers = [
    decisions(facts),
    ...isOpened(facts),
    ...companiesReady(facts),
    ...accountAnswers(facts),
    worker(facts),
  ];
  return {
    go: answers.every(({ go }) => go),
    opening,
    answers,
    wouldPause: wouldPause(facts, opening),
    contact: facts.contact,
  };
}

function nextOpening({ now, limits, progress }: GoNoGoFacts): WindowOccurrence | null {
  const startAt = progress?.proposal?.startAt;
  return windowOccurrences(limits.windows, startAt !== undefined && startAt > now ? startAt : now)[0] ?? null;
}

/** Whatever people have to decide before: the steps that are open, a pause, an approval. */
function decisions({ progress }: GoNoGoFacts): Answer {
  const about = 'decisions';
  if (!progress) return { about, go: false, why: 'not known: no worker answers for the migration' };
  const { route, step, state, waitingFor } = progress;
  const where =
    route === 'self-service' ? headline(progress) : `step ${stepNumber(step)}, ${STEP_RULES[step].title.toLowerCase()}`;
  if (state === 'running' && stepNumber(step) > stepNumber('disable-syncing')) {
    return { about, go: true, why: `nobody is waited for (${where})` };
  }
  if (waitingFor.roles.length === 0) return { about, go: false, why: `${waitingFor.what} (${where})` };
  return { about, go: false, why: `${waitingFor.roles.join(' and ')} is waited for: ${waitingFor.what} (${where})` };
}

function isOpened({ windowsPaused }: GoNoGoFacts): readonly Answer[] {
  if (windowsPaused === null) return [];
  return [{ about: 'window', go: false, why: `no window opens until they are resumed: ${windowsPaused}` }];
}

function companiesReady({ next, progress }: GoNoGoFacts): readonly Answer[] {
  const { unconfirmed, withoutCredential, oldestCredentialAt } = next;
  const of = next.wave === null ? '' : ` of wave ${next.wave}`;
  const heldBack = progress?.counts.heldBack ?? 0;
  const syncing = (progress?.counts.importing ?? 0) + (progress?.counts.syncing ?? 0);
  const ready = next.companies - unconfirmed - withoutCredential;
  const movable = ready + syncing > 0;
  return [
    {
      about: 'freeze',
      go: unconfirmed === 0,
      why:
        unconfirmed === 0
          ? `every company${of} is confirmed as disabled`
          : `${counted(unconfirmed, 'company')}${of} not confirmed as disabled`,
    },
    {
      about: 'credentials',
      go: withoutCredential === 0,
      why:
        withoutCredential === 0
          ? `every confirmed company${of} has a credential that counts${oldestCredentialAt === null ? '' : `, the oldest of ${moment(oldestCredentialAt)}`}`
          : `${counted(withoutCredential, 'company')}${of} without a credential that was obtained after the freeze`,
    },
    {
      about: 'companies',
      go: movable,
      why: [
        movable ? `${counted(ready, 'company')}${of} can be moved` : 'there is nothing to move',
        ...(syncing === 0 ? [] : [`${counted(syncing, 'company')} under way`]),
        ...(heldBack === 0 ? [] : [`${counted(heldBack, 'company')} held back by the check`]),
      ].join(', '),
    },
  ];
}

/** The same questions as before the start, about the account and the application as they are now. */
function accountAnswers({ platform, progress, service, toCreate, endsBy }: GoNoGoFacts): readonly Answer[] {
  if ('unreachable' in service) return [{ about: 'service', go: false, why: service.unreachable }];
  const route = progress?.route ?? 'managed';
  const findings = preflight({ route, platform, isStarted: true, toCreate, service, endsBy });
  if ('refused' in service) return [{ about: 'service', go: false, why: service.refused }];
  const { account, application } = service;
  const ofApplication = ({ code }: PreflightFinding): boolean => code.startsWith('application-');
  return [
    { about: 'service', go: true, why: 'it answers' },
    answerFrom(
      'account',
      findings.filter((finding) => !ofApplication(finding)),
      `plan ${account.plan}, ${account.expiresAt === null ? 'does not expire' : `expires at ${moment(account.expiresAt)}`}`,
    ),
    answerFrom('application', findings.filter(ofApplication), `${application?.clientId} (${application?.environment})`),
  ];
}

/** Warnings are told, and speak against nothing. */
function answerFrom(about: Answer['about'], findings: readonly PreflightFinding[], good: string): Answer {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const told = errors.length > 0 ? errors : findings;
  return {
    about,
    go: errors.length === 0,
    why: told.length === 0 ? good : told.map(({ message }) => message).join('; '),
  };
}

function worker({ workers, progress, heldUp }: GoNoGoFacts): Answer {
  const about = 'worker';
  if (!progress || workers.workflows === 0 || workers.activities === 0) {
    return { about, go: false, why: 'no worker asks for work; start one' };
  }
  if (heldUp.length > 0) return { about, go: false, why: `something keeps failing: ${heldUp.join('; ')}` };
  return {
    about,
    go: true,
    why: `${counted(workers.activities, 'worker')} ${workers.activities === 1 ? 'asks' : 'ask'} for work`,
  };
}

function wouldPause(
  { limits, failures, platform, endsBy }: GoNoGoFacts,
  opening: WindowOccurrence | null,
): readonly string[] {
  return [
    tolerance(limits, failures),
    'the service refuses the API key, or the account reaches a limit or expires (401, 402, 403)',
    `${platform.name} refuses the application, or a credential turns out to be of another organization`,
    'an outage of the service or of the platform pauses nothing: it is waited for, and companies are tried again',
    ...(opening === null
      ? []
      : [`from ${moment(opening.closesAt)} on no company is started until the next window; what syncs is verified`]),
    ...(endsBy === null ? [] : [`all is over by ${moment(endsBy)} at worst`]),
  ];
}

function tolerance(limits: MigrationLimits, failures: GoNoGoFacts['failures']): string {
  const { toleratedFailures, toleratedShare } = limits;
  const so = `(so far ${failures.failed} of ${failures.tried})`;
  if (exceedsTolerance(limits, failures)) return `more companies have failed than are tolerated already ${so}`;
  const bounds = [
    ...(toleratedFailures === null ? [] : [`more than ${counted(toleratedFailures, 'company')}`]),
    ...(toleratedShare === null ? [] : [`more than ${Math.round(toleratedShare * 100)} % of those that were tried`]),
  ];
  return bounds.length === 0 ? `no number of failed companies pauses it ${so}` : `${bounds.join(', or ')} fail ${so}`;
}
