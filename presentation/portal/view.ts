/**
 * Builds the view of a migration that the portal's page shows. The reader is the client, who is "you".
 *
 * Texts are plain text. Times inside a text have the form `2026-11-20 23:55 UTC`; the page shows them, like the other
 * times, in the reader's zone.
 */
import type { MigrationView } from '../../portal/contract/migration-view';
import { inClientWords } from '../../domain/companies/client-words';
import { clientCounts, countOpen } from '../../domain/companies/company-state';
import type { Ending } from '../../domain/migration/migration-state';
import { isEnding } from '../../domain/migration/migration-state';
import { isOver } from '../../domain/migration/terminated';
import type { Role, Step } from '../../domain/migration/steps';
import { STEP_RULES, stepNumber } from '../../domain/migration/steps';
import type { ApplicationsOfMoved } from '../../domain/preflight/applications';
import { replacedStaleText } from '../../domain/preflight/applications';
import { firstOpening } from '../../domain/progress/first-opening';
import { forecastOf } from '../../domain/progress/forecast';
import type { Progress, StepProgress } from '../../domain/progress/progress';
import { counted, oneLine, sentence } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import type { Confirmers } from '../../store';
import type { Task } from '../wording/client-page';
import { deadlineOf, estimateBasisText, outOfDateText, switchOnText, taskOf } from '../wording/client-page';
import { detailsInPortal, problemsInPortal } from '../wording/details';
import { headlineText } from '../wording/status-line';
import { laterText, meanwhileText } from '../wording/client-task';
import { windowsText } from '../wording/windows';
import { actionsOf } from './actions';
import { ownApplication } from './candidate';
import { noticesOf } from './notices';

/** Maximum lengths, in characters, of a name and of other text that people or the service wrote. */
const MAX_NAME_LENGTH = 200;
const MAX_TEXT_LENGTH = 1_000;

/** The facts that the view shows in addition to the progress. */
export interface LedgerFacts {
  /** The waves that have companies without a confirmation. */
  readonly waves: MigrationView['waves'];
  /** The people who have confirmed that syncing is off, which ends step 4; null if step 4 is not done. */
  readonly confirmers: Confirmers | null;
  /** The signed migration key; null if the vault is not open, or if the provider has not signed the key. */
  readonly migrationKey: string | null;
  /** True if only credentials that were obtained after the confirmation count. */
  readonly isRotating: boolean;
  /** The chosen first company, if it lacks the confirmation that syncing is off; otherwise null. */
  readonly unconfirmedFirst: string | null;
  /** The applications with which companies were moved; null if none of them was replaced. */
  readonly applications: ApplicationsOfMoved | null;
}

/** @param now ISO 8601, UTC */
export function migrationView(progress: Progress, facts: LedgerFacts, now: string): MigrationView {
  const { migrationId, client, platformKey, contact, route, state, windows, preflight } = progress;
  const platform = findPlatform(platformKey);
  const name = platform?.name ?? platformKey;
  const isOpen = !isOver(state);
  const task = taskView(progress, facts, now);
  return {
    migrationId,
    client,
    platform: { key: platformKey, name },
    contact: text(contact),
    route,
    state,
    headline: text(headlineText(progress, name, now)),
    task,
    next: isOpen ? nextText(progress) : null,
    notices: noticesOf(progress, { applications: facts.applications, task }, now).map(text),
    steps: route === 'self-service' ? [] : progress.steps.map((step) => stepView(step, facts.confirmers)),
    start: isOpen ? startView(progress) : null,
    end: endView(progress, now),
    windows: isOpen && windows.length > 0 ? windowsText(windows) : null,
    outOfDate: staleText(progress, facts.applications, now),
    switchBackOn: sentence(switchOnText(progress)),
    counts: countsView(progress),
    waves: isOpen ? facts.waves : [],
    firstCompany: firstCompanyView(progress),
    // After the end, nobody can correct the details.
    details: { isChecking: isOpen && progress.checking, ...detailsInPortal(isOpen ? preflight : null, text) },
    application: applicationView(progress),
    callbackUrl: preflight?.callbackUrl ?? null,
    credentialFields: [
      ...(platform?.requiredFields ?? []).map((field) => ({ name: field, isRequired: true })),
      ...(platform?.optionalFields ?? []).map((field) => ({ name: field, isRequired: false })),
    ],
    isRotating: facts.isRotating,
    migrationKey: isOpen ? facts.migrationKey : null,
    actions: [...actionsOf(progress, { ...facts, canSeal: isOpen && facts.migrationKey !== null }, now)],
  };
}

const text = (untrusted: string): string => oneLine(untrusted, MAX_TEXT_LENGTH);
const nameText = (untrusted: string): string => oneLine(untrusted, MAX_NAME_LENGTH);

/** Returns what the client has to do, or else what it can do meanwhile; null if there is nothing. */
function taskView(
  progress: Progress,
  { unconfirmedFirst }: Pick<LedgerFacts, 'unconfirmedFirst'>,
  now: string,
): MigrationView['task'] {
  const { waitingFor, waitingSince, state } = progress;
  if (isEnding(state)) return taskAfterEnd(state);
  if (state === 'terminated') return TASK_AFTER_TERMINATION;
  if (!waitingFor.roles.includes('client')) {
    const meanwhile = meanwhileText(progress);
    return meanwhile === null
      ? null
      : { what: text(meanwhile), why: whyText({ ...progress, state: 'running' }), since: null, by: null };
  }
  const { what, problems } = taskForFirst(progress, unconfirmedFirst) ?? taskOf(progress, now);
  const listed = problemsInPortal(problems).map(text);
  const deadline = deadlineOf(progress, now);
  return {
    ...{ what: text(`${sentence(what)}${listed.length > 0 ? ':' : '.'}`), why: whyText(progress) },
    ...(listed.length > 0 && { problems: listed }),
    ...{ since: waitingSince, by: dueAt(progress, now) },
    ...(deadline && { ifLate: deadline.ifLate }),
  };
}

/** Returns the task if the chosen first company cannot move yet; null otherwise. */
function taskForFirst({ step, firstCompany, requestedFirst }: Progress, unconfirmedFirst: string | null): Task | null {
  if (step !== 'migrate-first-company' || firstCompany !== null || !requestedFirst?.notReady) return null;
  const { reference } = requestedFirst;
  const orElse = 'Instead, you can ask support to choose another company';
  if (unconfirmedFirst === null)
    return {
      what: `supply what ${reference} still needs, because this company moves first. "Companies" shows what is missing. ${orElse}`,
      problems: [],
    };
  return {
    what: `turn off syncing for ${reference} in your own application, because this company moves first. Then confirm that its syncing is off, and supply its credential. ${orElse}`,
    problems: [],
  };
}

const TASK_AFTER_TERMINATION: MigrationView['task'] = {
  what: 'Ask your contact what happens next. Until then, do not switch any syncing back on.',
  why: 'Support has to close the migration. Syncing of the companies that were moved must stay off in your own application.',
  ...{ since: null, by: null },
};

function taskAfterEnd(state: Ending): MigrationView['task'] {
  return {
    what: 'Open the handover report, and do what it lists under "What you need to do".',
    why:
      state === 'completed'
        ? 'The report says which stored tokens and copies of credentials to delete, and what each company that was not moved needs.'
        : 'The report says for which companies you may switch syncing back on, and which stored tokens and copies of credentials to delete.',
    ...{ since: null, by: null },
  };
}

/** Returns why the client's task matters. */
function whyText({ route, step, state, counts, reopened }: Progress): string {
  if (state === 'paused') return 'No move begins while the migration is paused.';
  if (reopened?.asksForChanges && reopened.reason !== null) return `The reason: ${text(reopened.reason)}`;
  switch (step) {
    case 'supply-details':
      return route === 'self-service'
        ? 'The companies move once every problem is solved.'
        : 'Support can accept the details only once every problem is solved.';
    case 'schedule':
      return 'Nothing moves before you and support have agreed on a start.';
    case 'update-application':
      return 'Your customers can reconnect later only if your application has this callback URL.';
    case 'disable-syncing':
      return 'If your own application keeps syncing a company, its credential can stop working before the company is moved.';
    case 'migrate-first-company':
    case 'complete-migration':
      if (countOpen(counts) > 0) return 'Some companies cannot move before you have done this.';
      return route === 'self-service'
        ? 'Once every company has moved or been left out, the migration ends automatically, and the stored credentials are destroyed.'
        : 'The migration ends when both sides have signed off. The stored credentials are then destroyed.';
  }
}

/** Returns the time by which the client has to act so that moves begin as planned; null if there is none. */
function dueAt(progress: Progress, now: string): string | null {
  const { step, proposal, firstCompany } = progress;
  if (proposal === null || firstCompany !== null || step === 'complete-migration') return null;
  return firstOpening(progress, now)?.closesAt ?? (proposal.startAt > now ? proposal.startAt : null);
}

/** Returns what follows the current step. */
function nextText(progress: Progress): string {
  const { route, step, counts, waitingFor } = progress;
  const later = waitingFor.roles.includes('client') ? null : laterText(progress);
  if (route === 'self-service')
    return step === 'supply-details'
      ? 'Once the details have been checked, the companies move.'
      : 'Once every company has moved or been left out, the migration ends and the stored credentials are destroyed.';
  switch (step) {
    case 'supply-details':
      return 'Once support has accepted the details, you and support agree on a start.';
    case 'schedule':
      return 'Once you and support have agreed on a start, you add the callback URL to your application at the platform.';
    case 'update-application':
      return 'Once the callback URL is confirmed, you turn off syncing in your own application and supply the credentials.';
    case 'disable-syncing':
      return 'Once syncing is off, you supply the credentials, and one company moves first.';
    case 'migrate-first-company':
      return 'Once support has approved the first company, the other companies move.';
    case 'complete-migration':
      if (later !== null) return later;
      return countOpen(counts) > 0
        ? 'Once the outcome of every company is final, you and support sign off the handover.'
        : 'Once both sides have signed off, the migration ends. The handover report lists every company.';
  }
}

/** Returns which data is out of date, and for how long. */
function staleText(progress: Progress, applications: ApplicationsOfMoved | null, now: string): string {
  const replaced = applications?.replaced ?? [];
  const text = sentence(outOfDateText(progress, now, replaced.length > 0));
  return replaced.length === 0 ? text : `${text} ${replacedStaleText(replaced)}`;
}

/** Maximum number of people who are named for step 4. */
const CONFIRMERS_SHOWN = 2;

function stepView(
  { step, state, openedAt, endedAt, approvals }: StepProgress,
  confirmers: LedgerFacts['confirmers'],
): MigrationView['steps'][number] {
  const { title, actors, approvers } = STEP_RULES[step];
  return {
    ...{ step, number: stepNumber(step), title, state, openedAt, endedAt },
    who: whoText([...actors, ...approvers]),
    approvals: approvals.map(({ by, role, at }) => ({ by: nameText(by), role, at })),
    ...(step === 'disable-syncing' && state === 'done' && confirmers !== null ? confirmersView(confirmers) : {}),
  };
}

function confirmersView({
  names,
  people,
}: Confirmers): Pick<MigrationView['steps'][number], 'confirmedBy' | 'otherConfirmers'> {
  const confirmedBy = names.slice(0, CONFIRMERS_SHOWN).map(nameText);
  const otherConfirmers = people - confirmedBy.length;
  return { confirmedBy, ...(otherConfirmers > 0 ? { otherConfirmers } : {}) };
}

function whoText(roles: readonly Role[]): string {
  if (!roles.includes('client')) return 'support';
  return roles.includes('support') ? 'you and support' : 'you';
}

function startView({ proposal, step }: Progress): MigrationView['start'] {
  if (proposal === null) return null;
  const { startAt, by, role } = proposal;
  return { at: startAt, by: nameText(by), role, isAgreed: isAfter(step, 'schedule') };
}

const isAfter = (step: Step, other: Step): boolean => stepNumber(step) > stepNumber(other);

function endView(progress: Progress, now: string): MigrationView['end'] {
  const { estimate, throughput } = progress;
  const forecast = forecastOf(progress, throughput, now);
  if (!forecast?.ends) return null;
  const { companies, isComplete, ends, basis } = forecast;
  const covers = isComplete ? '' : `for ${counted(companies, 'company')} that can be moved now, `;
  const why = basis === 'throughput' || !estimate ? 'at the current rate' : estimateBasisText(estimate);
  return {
    // A view is sent to browsers only if it differs from the previous one. Without rounding, the end would change every
    // second.
    ...{ earliest: toMinute(ends.earliest), latest: toMinute(ends.latest), companies },
    basis: `${covers}${why}`,
  };
}

const toMinute = (iso: string): string => new Date(Math.ceil(Date.parse(iso) / 60_000) * 60_000).toISOString();

function countsView({ counts, state }: Progress): MigrationView['counts'] {
  const numbers = clientCounts(counts, isOver(state));
  return {
    total: counts.total,
    moved: numbers.moved,
    moving: numbers.moving,
    notMovedYet: numbers['not-moved-yet'],
    mustReconnect: numbers['must-reconnect'],
    notMoved: numbers['not-moved'],
    leftOut: numbers['left-out'],
    unconfirmed: counts.unconfirmed,
    withoutCredential: counts.withoutCredential,
    retried: counts.retried ?? 0,
  };
}

function firstCompanyView({ firstCompany }: Progress): MigrationView['firstCompany'] {
  if (firstCompany === null) return null;
  const { reference, stage, evidence } = firstCompany;
  const checks = evidence.map(({ label, detail, passed }) => ({
    label: text(label),
    result: text(inClientWords(detail)),
    ok: passed,
  }));
  return { reference: nameText(reference), stage, evidence: checks };
}

function applicationView(progress: Progress): MigrationView['application'] {
  const application = ownApplication(progress);
  if (application === null) return null;
  const { clientId, environment, suppliedBy } = application;
  return { clientId: text(clientId), environment, suppliedBy: suppliedBy === null ? null : nameText(suppliedBy) };
}
