/** Suggests the next commands for a migration. */
import { countReadyOrMoving, countOpen } from '../../domain/companies/company-state';
import type { StopReason } from '../../domain/companies/failures';
import type { FindingCode } from '../../domain/companies/finding';
import { isEnding } from '../../domain/migration/migration-state';
import type { Progress } from '../../domain/progress/progress';
import type { Role } from '../../domain/migration/steps';
import { STEP_RULES } from '../../domain/migration/steps';

export interface NextCommand {
  readonly who: Role;
  readonly command: string;
}

type Commands = readonly NextCommand[];

/** Returns the commands that are useful at this point; empty if the migration has ended. */
export function nextCommands(progress: Progress): Commands {
  const { migrationId: id, state, step, counts } = progress;
  if (isEnding(state)) return [];
  if (progress.route === 'self-service') return selfServiceCommands(progress);
  if (state === 'paused')
    return [...beforeResuming(progress, progress.pause?.stopReason), bySupport(`ferry resume ${id}`)];
  switch (step) {
    case 'supply-details':
      return duringSupplyDetails(progress);
    case 'schedule':
      return progress.proposal ? approvals(progress) : proposals(id);
    case 'update-application':
      return approvals(progress);
    case 'disable-syncing':
      return [...confirmations(progress), ...exceptions(progress), ...heldBack(progress)];
    case 'migrate-first-company':
      return duringFirstCompany(progress);
    case 'complete-migration':
      if (countOpen(counts) === 0) return [...exceptions(progress), ...signatures(progress)];
      return [
        ...missingSupplies(progress),
        ...exceptions(progress),
        ...goNoGo(progress),
        bySupport(`ferry watch ${id}`),
      ];
  }
}

/** Returns the commands of a self-service migration, in which the client also makes the decisions of support. */
function selfServiceCommands(progress: Progress): Commands {
  const { migrationId: id, state, preflight, counts } = progress;
  const viewing = (command: string): NextCommand => ({ who: 'client', command });
  const hasExceptions = counts.failed + counts.outcomeUnknown + counts.heldBack > 0;
  const exceptions = hasExceptions ? [viewing(`ferry exceptions ${id}`)] : [];
  if (state === 'paused') return [...exceptions, byClient(`ferry resume ${id}`)];
  const hasProblems = progress.step === 'supply-details' && (preflight?.problems.length ?? 0) > 0;
  return [
    ...credentials(progress),
    ...exceptions,
    ...(counts.heldBack === 0
      ? []
      : [byClient(`ferry amend ${id} FILE`), byClient(`ferry exclude ${id} REFERENCE... --reason TEXT`)]),
    ...(hasProblems ? [byClient(`ferry retry ${id} --all`)] : []),
    ...(countOpen(counts) > 0 && !hasProblems ? [viewing(`ferry watch ${id}`)] : []),
  ];
}

const bySupport = (command: string): NextCommand => ({ who: 'support', command });
const byClient = (command: string): NextCommand => ({ who: 'client', command: `${command} --as client --by NAME` });

const APPLICATION_PROBLEMS: readonly FindingCode[] = ['application-missing', 'application-environment'];

/**
 * Returns the commands that remove the cause of an automatic pause. If the cause remains, the migration pauses again.
 * Empty if no command can remove it.
 */
function beforeResuming(progress: Progress, stop: StopReason | null | undefined): Commands {
  switch (stop) {
    case 'application-refused':
      return [bySupport(`ferry exceptions ${progress.migrationId}`), application(progress)];
    case 'wrong-organization':
    case 'too-many-failures':
      return exceptions(progress);
    case 'ledger-behind':
      return [bySupport(`ferry reconcile ${progress.migrationId}`)];
    case 'key-refused':
    case 'account-limit':
    case null:
    case undefined:
      return [];
  }
}

function duringSupplyDetails(progress: Progress): Commands {
  const { migrationId: id, preflight } = progress;
  // The preflight is still running, so there is nothing to do yet.
  if (!preflight) return [];
  if (preflight.problems.length === 0) return approvals(progress);
  const isAboutApplication = preflight.problemCodes.some((code) => APPLICATION_PROBLEMS.includes(code));
  return [
    ...(isAboutApplication ? [application(progress)] : []),
    ...exceptions(progress),
    ...heldBack(progress),
    bySupport(`ferry reject ${id} supply-details --reason "check again"`),
  ];
}

function application({ migrationId }: Progress): NextCommand {
  return byClient(`ferry application ${migrationId} --client-id ID --environment production`);
}

function proposals(id: string): Commands {
  const command = `ferry propose-time ${id} "YYYY-MM-DD HH:MM"`;
  return [bySupport(command), byClient(command)];
}

function approvals(progress: Progress): Commands {
  const { migrationId, step } = progress;
  return approversLeft(progress).map((who) =>
    (who === 'client' ? byClient : bySupport)(`ferry approve ${migrationId} ${step}`),
  );
}

function signatures(progress: Progress): Commands {
  const command = `ferry sign-off ${progress.migrationId}`;
  return approversLeft(progress).map((who) => (who === 'client' ? byClient : bySupport)(command));
}

function approversLeft({ step, steps }: Progress): readonly Role[] {
  const given = steps.find((each) => each.step === step)?.approvals ?? [];
  return STEP_RULES[step].approvers.filter((role) => !given.some((approval) => approval.role === role));
}

/**
 * In step 4, suggests `--wave` if companies of later waves are unconfirmed, otherwise `--all`. In later steps, suggests
 * `--wave` for later waves and references for added companies.
 */
function confirmations({ migrationId: id, counts, step }: Progress): Commands {
  const { unconfirmed, unconfirmedInFirstWave } = counts;
  if (unconfirmed === 0) return [];
  const command = `ferry confirm-sync-disabled ${id}`;
  if (step !== 'disable-syncing') return [byClient(`${command} --wave NUMBER`), byClient(`${command} REFERENCE...`)];
  return [byClient(`${command} ${unconfirmed === unconfirmedInFirstWave ? '--all' : '--wave NUMBER'}`)];
}

function credentials({ migrationId, counts }: Progress): Commands {
  return counts.withoutCredential === 0 ? [] : [byClient(`ferry credentials ${migrationId} FILE`)];
}

/** Returns the commands for companies that the preflight holds back. */
function heldBack(progress: Progress): Commands {
  const { migrationId: id, counts, checking } = progress;
  if (counts.heldBack === 0 || checking) return [];
  return [byClient(`ferry amend ${id} FILE`), bySupport(`ferry exclude ${id} REFERENCE... --reason TEXT`)];
}

/** Returns the commands that supply what is still missing before more companies can be moved. */
function missingSupplies(progress: Progress): Commands {
  return [...confirmations(progress), ...credentials(progress), ...heldBack(progress)];
}

/** Suggests `ferry exceptions`, which lists a command for each remedy. */
function exceptions({ migrationId, counts }: Progress): Commands {
  if (counts.failed + counts.outcomeUnknown + counts.heldBack === 0) return [];
  return [bySupport(`ferry exceptions ${migrationId}`)];
}

/** Suggests `ferry go-nogo` before moves begin automatically: in a window, or with the first company. */
function goNoGo({ migrationId, counts, windows, step }: Progress): Commands {
  const startsAutomatically = step === 'migrate-first-company' || windows.length > 0;
  return startsAutomatically && countReadyOrMoving(counts) > 0 ? [bySupport(`ferry go-nogo ${migrationId}`)] : [];
}

function duringFirstCompany(progress: Progress): Commands {
  const { migrationId: id, firstCompany, requestedFirst, counts } = progress;
  switch (firstCompany?.stage) {
    case 'verified':
      return approvals(progress);
    case 'failed':
      return [
        ...exceptions(progress),
        bySupport(`ferry first-company ${id} ${firstCompany.reference} --reason TEXT`),
        bySupport(`ferry first-company ${id} REFERENCE --reason TEXT`),
      ];
    case 'importing':
      return [];
    case undefined:
      if (requestedFirst?.notReady)
        return [...missingSupplies(progress), bySupport(`ferry first-company ${id} REFERENCE`)];
      if (countOpen(counts) > 0) return [...missingSupplies(progress), ...exceptions(progress), ...goNoGo(progress)];
      return [byClient(`ferry amend ${id} FILE`), bySupport(`ferry cancel ${id} --reason TEXT`)];
  }
}
