/**
 * Builds the view of a migration that the portal's page shows. The reader is the client, who is "you".
 *
 * Texts are plain text. Times inside a text have the form `2026-11-20 23:55 UTC`; the page shows them, like the other
 * times, in the reader's zone.
 */
import type { MigrationView } from '../../portal/contract/migration-view';
import { inClientWords } from '../../domain/companies/client-words';
import { clientCounts } from '../../domain/companies/counts';
import { isOver } from '../../domain/migration/terminated';
import { STEP_RULES, stepNumber, type Role, type Step } from '../../domain/migration/steps';
import {
  replacedStaleText,
  type ApplicationsOfMoved,
  type MovedWithApplication,
} from '../../domain/preflight/applications';
import { continuationOf, continuationText } from '../../domain/progress/continuation';
import { withReconciledLedger } from '../../domain/progress/ledger-behind';
import { knownForecast } from '../../domain/progress/paused-forecast';
import type { Progress, StepProgress } from '../../domain/progress/progress';
import type { ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';
import { momentText, oneLine, sentence } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import type { Confirmers } from '../../store';
import { coveredText, forecastBasisText, outOfDateText, switchOnText } from '../wording/client-page';
import { detailsInPortal } from '../wording/details';
import { headlineText } from '../wording/status-line';
import { windowsText } from '../wording/windows';
import { actionsOf } from './actions';
import { ownApplication } from './candidate';
import { noticesOf } from './notices';
import { impossibleFirstText, nextText, taskView, text, type TaskFacts } from './task';

const MAX_NAME_LENGTH = 200;

/** The facts that the view shows in addition to the progress. */
export interface LedgerFacts extends TaskFacts {
  /** The waves that have companies without a confirmation. */
  readonly waves: MigrationView['waves'];
  /** The people who have confirmed that syncing is off, which ends step 4; null if step 4 is not done. */
  readonly confirmers: Confirmers | null;
  /** True if a company that must reconnect has a link. */
  readonly hasReconnectLink: boolean;
  /** The signed migration key; null if the vault is not open, or if the provider has not signed the key. */
  readonly migrationKey: string | null;
  /** True if only credentials that were obtained after the confirmation count. */
  readonly isRotating: boolean;
  /** True if the ledger was restored to an older state, so that counts and tasks that follow from it can be wrong. */
  readonly isLedgerBehind: boolean;
  /** The applications with which companies were moved; null if none of them was replaced. */
  readonly applications: ApplicationsOfMoved | null;
  /** The sign-offs since which outcomes have changed. */
  readonly changedSinceSignOff: readonly ChangedSinceSignOff[];
}

/** @param now ISO 8601, UTC */
export function migrationView(progress: Progress, facts: LedgerFacts, now: string): MigrationView {
  return facts.isLedgerBehind
    ? { ...viewOfProgress(progress, facts, now), ...WHILE_CHECKED }
    : viewOfProgress(withReconciledLedger(progress), facts, now);
}

/** Replaces the parts of the view that a ledger which is out of date makes wrong, until support has reconciled it. */
const WHILE_CHECKED: Partial<MigrationView> = {
  headline: 'Support is checking some numbers on this page. You cannot make decisions until this check has ended.',
  ...{ task: null, notices: [], end: null, waves: [], actions: [] },
};

function viewOfProgress(progress: Progress, facts: LedgerFacts, now: string): MigrationView {
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
    headline: text((isOpen ? impossibleFirstText(facts) : null) ?? headlineText(progress, name, now)),
    task,
    next: isOpen ? nextText(progress) : null,
    notices: noticesOf(progress, { ...facts, task }, now).map(text),
    steps: route === 'self-service' ? [] : progress.steps.map((step) => stepView(step, facts.confirmers)),
    start: isOpen ? startView(progress) : null,
    end: endView(progress, now),
    windows: isOpen && windows.length > 0 ? windowsText(windows) : null,
    outOfDate: staleText(progress, facts.applications, now),
    switchBackOn: sentence(switchOnText(progress)),
    counts: countsView(progress),
    hasReconnectLinks: facts.hasReconnectLink || (facts.applications?.replaced ?? []).some(hasLink),
    waves: isOpen ? facts.waves : [],
    firstCompany: firstCompanyView(progress),
    // After the end, nobody can correct the details.
    details: {
      isChecking: isOpen && progress.checking,
      ...detailsInPortal({ preflight: isOpen ? preflight : null, migrationId }, text),
    },
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

/** Returns whether a company that was moved with this application has a link. */
const hasLink = ({ companies, withoutLink = 0 }: MovedWithApplication): boolean => companies > withoutLink;

const nameText = (untrusted: string): string => oneLine(untrusted, MAX_NAME_LENGTH);

function staleText(progress: Progress, applications: ApplicationsOfMoved | null, now: string): string {
  const replaced = applications?.replaced ?? [];
  const text = sentence(outOfDateText(progress, now));
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
  const { estimate } = progress;
  const forecast = knownForecast(progress, null, now);
  if (!forecast?.ends) return null;
  const { companies, isComplete, ends } = forecast;
  const covers = isComplete ? '' : `for ${coveredText(forecast, progress.counts)}, `;
  return {
    ...ends,
    companies,
    basis: `${covers}${forecastBasisText(forecast, estimate)}${continuationText(continuationOf(progress, forecast, now), momentText)}`,
  };
}

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
