/** Suggests next commands, quoted for a POSIX shell. A placeholder such as `"your name"` must be replaced. */
import { countExceptions, countOpen, countReadyOrMoving, isConfirmationDue } from '../../domain/companies/counts';
import type { StopReason } from '../../domain/companies/failures';
import { isEnding } from '../../domain/migration/migration-state';
import { isForCorrectedApplication } from '../../domain/migration/pauses';
import type { ApplicationsOfMoved, MigrationApplications } from '../../domain/preflight/applications';
import { canBothResume } from '../../domain/progress/acting-roles';
import { excludedPeople } from '../../domain/progress/four-eyes';
import { isForReconciledLedger } from '../../domain/progress/ledger-behind';
import { hasOverdueConfirmations } from '../../domain/progress/meanwhile';
import { FAILURES_ACCEPTED, hasFailuresToAccept, pausesIn, type Progress } from '../../domain/progress/progress';
import type { SuggestedCompanies } from '../../store';
import { approvals, proposals, signOffs } from './approval-commands';
import { addingOrEnding, anotherFirst, firstAgain } from './first-company-commands';
import { applicationCommand, askedApplication, detailCommands, registrationCommands } from './detail-commands';
import { BY_CLIENT, byClient, byClientNamed, bySupport, referenceWords, type NextCommand } from './remedy-commands';

/** Facts that suggested commands need, but that the progress does not contain. */
export interface NamedInCommands extends SuggestedCompanies {
  /** The applications of this and other open migrations; absent without the ledger, or if no problem is about them. */
  readonly applications?: MigrationApplications;
  /** True if the client must decide in the portal. */
  readonly isInPortal?: boolean;
  /** The applications with which companies were moved; null without the ledger. */
  readonly applicationsOfMoved?: ApplicationsOfMoved | null;
  /** True if the windows are paused, so that no further window opens. */
  readonly areWindowsPaused?: boolean;
}

type Commands = readonly NextCommand[];

/** Used without the ledger, or if no command names a company. */
export const NO_COMPANIES: SuggestedCompanies = {
  unconfirmedWave: null,
  unconfirmed: [],
  firstUnconfirmed: null,
  firstLeftOut: null,
  firstCandidate: null,
};

/**
 * Returns the commands that are useful at this point; empty if the migration has ended.
 *
 * @param companies {@link NO_COMPANIES} without the ledger
 */
export function nextCommands(progress: Progress, companies: NamedInCommands, now: Date): Commands {
  return asClient(suggestions(progress, companies, now), progress);
}

const APPROVAL = /^ferry (?:approve|sign-off) /;

function suggestions(progress: Progress, companies: NamedInCommands, now: Date): Commands {
  if (isEnding(progress.state)) return [];
  if (progress.state === 'terminated') return [bySupport(`ferry sweep --close ${progress.migrationId}`)];
  const { applicationsOfMoved, areWindowsPaused = false } = companies;
  return [
    ...(applicationsOfMoved ? registrationCommands(progress.migrationId, applicationsOfMoved) : []),
    ...(areWindowsPaused ? [bySupport(`ferry schedule resume ${progress.migrationId}`)] : []),
    ...inState(progress, companies, now),
  ];
}

function inState(progress: Progress, companies: NamedInCommands, now: Date): Commands {
  const { migrationId: id, state } = progress;
  if (progress.route === 'self-service') return selfServiceCommands(progress);
  if (state !== 'paused') return inStep(progress, companies, now);
  const resume = resumption(progress, bySupport(`ferry resume ${id}`));
  const byEither = canBothResume(progress) ? [resume, byClient(`ferry resume ${id}`)] : [resume];
  const stop = progress.pause?.stopReason ?? null;
  if (stop !== null && !isForCorrectedApplication(progress.waitingFor))
    return [...beforeResuming(progress, stop), resume];
  // No cause is left to remove before a resume. Decisions are still possible, but no moves begin.
  return [...byEither, ...inStep(progress, companies, now).filter(({ command }) => !ABOUT_MOVES.test(command))];
}

function resumption(progress: Progress, command: NextCommand): NextCommand {
  return hasFailuresToAccept(progress) ? { ...command, does: `continues; ${FAILURES_ACCEPTED}` } : command;
}

/** Matches the commands that help only while companies can move. */
const ABOUT_MOVES = /^ferry (?:watch|go-nogo) /;

function inStep(progress: Progress, companies: NamedInCommands, now: Date): Commands {
  const { migrationId: id, step, counts } = progress;
  switch (step) {
    case 'supply-details':
      return duringSupplyDetails(progress, companies);
    case 'schedule':
      return progress.proposal ? approvals(progress) : proposals(progress, now);
    case 'update-application':
      return approvals(progress);
    case 'disable-syncing':
      return [...confirmations(progress, companies), ...heldBack(progress), ...exceptions(progress)];
    case 'migrate-first-company':
      return duringFirstCompany(progress, companies);
    case 'complete-migration':
      if (countOpen(counts) === 0) return [...exceptions(progress), ...signOffs(progress)];
      return [
        ...missingSupplies(progress, companies),
        ...exceptions(progress),
        ...goNoGo(progress),
        bySupport(`ferry watch ${id}`),
      ];
  }
}

/** Returns the commands of a self-service migration, in which the client also makes the decisions of support. */
function selfServiceCommands(progress: Progress): Commands {
  const { migrationId: id, state, preflight, counts } = progress;
  const hasExceptions = countExceptions(counts) + (counts.retried ?? 0) > 0;
  const exceptions = hasExceptions ? [viewing(`ferry exceptions ${id}`)] : [];
  if (state === 'paused') {
    const isPausedBySupport = pausesIn(progress).some(({ role }) => role === 'support');
    const resume = isPausedBySupport ? [bySupport(`ferry resume ${id}`)] : [];
    return [...exceptions, ...[...resume, byClient(`ferry resume ${id}`)].map((each) => resumption(progress, each))];
  }
  const hasProblems = progress.step === 'supply-details' && (preflight?.problems.length ?? 0) > 0;
  return [
    ...credentials(progress),
    ...exceptions,
    ...(counts.heldBack === 0 ? [] : [byClient(`ferry amend ${id} companies.csv`)]),
    ...(hasProblems ? detailCommands(progress) : []),
    ...(countOpen(counts) > 0 && !hasProblems ? [viewing(`ferry watch ${id}`)] : []),
  ];
}

/** Returns a command of the client that needs no name, because it decides nothing. */
const viewing = (command: string): NextCommand => ({ who: 'client', command });

/**
 * Puts the client's name into commands, if it is known. Approvals for which the four-eyes rule requires another person
 * keep the placeholder.
 */
function asClient(commands: Commands, progress: Progress): Commands {
  const name = clientName(progress);
  if (name === null) return commands;
  const isExcluded = excludedPeople(progress, progress.step, 'client').includes(name);
  return commands.map((each) =>
    isExcluded && APPROVAL.test(each.command)
      ? each
      : { ...each, command: each.command.replace(BY_CLIENT, () => byClientNamed(name)) },
  );
}

/**
 * Returns the name in the client's last approval, or else in the client's proposal of a time. In self-service, falls
 * back to the person who supplied the manifest.
 *
 * @returns null if the progress shows no name
 */
function clientName({ route, steps, proposal, preflight }: Progress): string | null {
  const supplier = route === 'self-service' ? (preflight?.suppliedBy ?? null) : null;
  const decided = [...(proposal ? [proposal] : []), ...steps.flatMap(({ approvals: given }) => given)];
  return decided.findLast(({ role }) => role === 'client')?.by ?? supplier;
}

/**
 * Returns the commands to run before resuming from an automatic pause: they show or remove its cause. Empty if no
 * command does.
 */
function beforeResuming(progress: Progress, stop: StopReason): Commands {
  const { migrationId: id, preflight } = progress;
  switch (stop) {
    case 'application-refused':
      return [bySupport(`ferry exceptions ${id}`), applicationCommand(progress, preflight?.application ?? null)];
    case 'wrong-organization':
    case 'too-many-failures':
      return exceptions(progress);
    case 'ledger-behind':
      return isForReconciledLedger(progress.waitingFor) ? [] : [bySupport(`ferry reconcile ${id}`)];
    case 'key-refused':
    case 'account-limit':
      return [];
  }
}

function duringSupplyDetails(progress: Progress, { applications, isInPortal }: NamedInCommands): Commands {
  // The preflight is still running, so there is nothing to do yet.
  if (!progress.preflight) return [];
  const asked = askedApplication(progress);
  if (progress.preflight.problems.length === 0)
    return [...(progress.reopened?.asksForChanges ? changes(progress) : []), ...asked, ...approvals(progress)];
  const corrections = detailCommands(progress, applications, isInPortal);
  return [...heldBack(progress), ...exceptions(progress), ...asked, ...corrections];
}

function changes(progress: Progress): Commands {
  const { migrationId: id, preflight } = progress;
  const application = preflight?.application ? [applicationCommand(progress, preflight.application)] : [];
  return [byClient(`ferry manifest ${id} manifest.csv`), ...application];
}

/**
 * Suggests `--all` in step 4 if every unconfirmed company is in the first wave, otherwise the lowest unconfirmed wave.
 * Companies without a wave are specified by reference. After step 4, suggests a confirmation only if it is due
 * ({@link isConfirmationDue}) or overdue ({@link hasOverdueConfirmations}).
 */
function confirmations(progress: Progress, companies: SuggestedCompanies): Commands {
  const { migrationId: id, counts, step } = progress;
  const { unconfirmed, unconfirmedInFirstWave } = counts;
  const { unconfirmedWave: wave, unconfirmed: references } = companies;
  const isDue = isConfirmationDue(counts) || hasOverdueConfirmations(progress);
  if (step === 'disable-syncing' ? unconfirmed === 0 : !isDue) return [];
  const confirm = `ferry confirm-sync-disabled ${id}`;
  if (step === 'disable-syncing' && unconfirmed === unconfirmedInFirstWave) return [byClient(`${confirm} --all`)];
  if (wave !== null) return [byClient(`${confirm} --wave ${wave}`)];
  return confirmationOf(id, references);
}

/** Suggests confirming the companies of the first wave that were added or corrected after step 4. */
function overdueConfirmations(progress: Progress, companies: SuggestedCompanies): Commands {
  return hasOverdueConfirmations(progress) ? confirmations(progress, companies) : [];
}

/** Suggests confirming these companies, or listing companies if there are none or a command cannot name them. */
function confirmationOf(id: string, references: readonly string[]): Commands {
  const words = references.length === 0 ? null : referenceWords(references);
  if (words === null) return [viewing(`ferry companies ${id} --state not-moved-yet`)];
  return [byClient(`ferry confirm-sync-disabled ${id} ${words}`)];
}

function confirmationOfFirst(
  { migrationId, counts }: Progress,
  first: string,
  companies: SuggestedCompanies,
): Commands {
  const { firstUnconfirmed } = companies;
  if (counts.unconfirmed === 0 || firstUnconfirmed === false) return [];
  return confirmationOf(migrationId, firstUnconfirmed === null ? [] : [first]);
}

function credentials({ migrationId, counts }: Progress): Commands {
  return counts.withoutCredential === 0 ? [] : [byClient(`ferry credentials ${migrationId} credentials.csv`)];
}

/** Returns the client's command for companies that the preflight holds back. `ferry exceptions` lists more commands. */
function heldBack({ migrationId: id, counts, checking }: Progress): Commands {
  return counts.heldBack === 0 || checking ? [] : [byClient(`ferry amend ${id} companies.csv`)];
}

/**
 * Returns the commands that supply missing confirmations, credentials and corrections. A company that lacks one of
 * these cannot be moved.
 */
function missingSupplies(progress: Progress, companies: SuggestedCompanies): Commands {
  return [...confirmations(progress, companies), ...credentials(progress), ...heldBack(progress)];
}

/**
 * Suggests `ferry exceptions`, which lists a command for each remedy, also for companies that wait for their next try.
 */
function exceptions({ migrationId, counts }: Progress): Commands {
  if (countExceptions(counts) + (counts.retried ?? 0) === 0) return [];
  return [bySupport(`ferry exceptions ${migrationId}`)];
}

/** Suggests `ferry go-nogo` before moves begin automatically: in a window, or with the first company. */
function goNoGo({ migrationId, counts, windows, step }: Progress): Commands {
  const startsAutomatically = step === 'migrate-first-company' || windows.length > 0;
  return startsAutomatically && countReadyOrMoving(counts) > 0 ? [bySupport(`ferry go-nogo ${migrationId}`)] : [];
}

function duringFirstCompany(progress: Progress, companies: SuggestedCompanies): Commands {
  const { migrationId: id, firstCompany, requestedFirst, counts } = progress;
  switch (firstCompany?.stage) {
    case 'verified':
      return [...approvals(progress), ...overdueConfirmations(progress, companies)];
    case 'failed':
      if (companies.firstLeftOut && countOpen(counts) === 0) return [...exceptions(progress), ...addingOrEnding(id)];
      return [
        ...exceptions(progress),
        ...(companies.firstLeftOut ? [] : firstAgain(id, firstCompany)),
        ...anotherFirst(progress, companies),
        ...overdueConfirmations(progress, companies),
      ];
    case 'importing':
      return overdueConfirmations(progress, companies);
    case undefined:
      if (requestedFirst?.notReady)
        return [
          ...confirmationOfFirst(progress, requestedFirst.reference, companies),
          ...credentials(progress),
          ...heldBack(progress),
          ...anotherFirst(progress, companies),
        ];
      if (countOpen(counts) > 0)
        return [...missingSupplies(progress, companies), ...exceptions(progress), ...goNoGo(progress)];
      return addingOrEnding(id);
  }
}
