/** The result of `ferry self-service`: what has started, and what to do with the file of the credentials. */
import { inSupportWords } from '../../domain/companies/call-words';
import type { Outcome } from '../../domain/migration/decision';
import { changedCount, isPartial } from '../../domain/migration/partial-outcome';
import { isOver } from '../../domain/migration/terminated';
import { plainTextAdvice } from '../../domain/supply/client-secret';
import { counted, sentence } from '../../domain/text/sentences';
import type { LedgerClient, SelfServiceStart } from '../../client';
import { readOutcome } from '../../store';
import type { WatchEnd } from '../reporting/watch';
import { actualWaitingFor } from '../../domain/progress/ledger-behind';
import { START_WORKER } from '../../domain/progress/worker-advice';
import { fileArguments, withCheckedFile } from '../suggestions/file-arguments';
import { withLedgerLimit } from '../connections/ledger-limit';
import { nextCommands, NO_COMPANIES } from '../suggestions/next-commands';
import { byClientNamed, bySupport, type NextCommand } from '../suggestions/remedy-commands';
import { findingsJson, printPreflight } from '../shared/results';
import type { CommandResult, Output } from '../terminal/output';
import type { CheckOutcome } from './check';
import { noLongerWaitingText } from './started';

export const SELF_SERVICE_SCHEMA = 'ferry.self-service/1';

/**
 * Reads again the outcome of the decision that supplied the credentials, if it was not known when the decision was
 * sent. Leaves the outcome unknown if the ledger does not answer.
 */
export async function withLatestOutcome({ db }: LedgerClient, started: SelfServiceStart): Promise<SelfServiceStart> {
  const { decision, migrationId } = started;
  if (decision?.outcome !== 'recorded') return started;
  let recorded: Outcome | null;
  try {
    recorded = await withLedgerLimit(readOutcome(db, migrationId, decision.decisionId));
  } catch {
    // Ignored, because the migration has started, and its result must be printed during an outage of the ledger, too.
    return started;
  }
  if (!recorded) return started;
  const { applied, text } = recorded;
  return {
    ...started,
    stored: applied ? changedCount(recorded, started.stored) : 0,
    decision: { ...decision, outcome: applied ? 'applied' : 'refused', text },
  };
}

/** Returns the command with which the client supplies the credentials of the files later. */
export function supplyCommand(
  { credentials, manifest, encoding }: CheckOutcome['files'],
  migrationId: string,
  by: string,
): string {
  return `ferry credentials ${migrationId} ${fileArguments(credentials ?? manifest, { encoding })} ${byClientNamed(by)}`;
}

/**
 * Prints that the migration has started, the result of its preflight, and how many credentials were not stored.
 *
 * @param isWatched true if the migration is watched next, so that the advice about the file follows much later
 */
export function printStarted(
  output: Output,
  { files, manifest, platform }: CheckOutcome,
  started: SelfServiceStart,
  { by, clientPage, isWatched }: Pick<SelfServiceResult, 'by' | 'clientPage'> & { readonly isWatched: boolean },
): void {
  const { migrationId } = started;
  output.line(`${output.styled('green', '✓')} ${migrationId}: started`);
  if (started.preflight) printPreflight(output, withCheckedFile(started.preflight, files, platform));
  else if (started.retriedErrors.length > 0)
    output.line(
      `  The preflight has not finished: ${started.retriedErrors.map((error) => inSupportWords(error)).join('; ')}`,
    );
  else output.line(`  No worker is answering yet; ${START_WORKER}`);
  const refused = refusalOf(started);
  const notStored = manifest.withCredential - (refused === null ? started.staged : 0);
  if (notStored > 0) {
    const left = counted(notStored, 'credential');
    if (refused !== null) output.line(`  Not stored: ${left}. ${sentence(refused)}`);
    else
      output.line(
        started.preflight
          ? `  Not stored: ${left}, ${noLongerWaitingText(migrationId, notStored)}`
          : `  Not stored yet: ${left}. Once the preflight has finished, supply the file with: ${supplyCommand(files, migrationId, by)}`,
      );
  }
  if (isWatched && isPartlyApplied(started)) output.line(`  ${sentence(started.decision.text)}`);
  if (clientPage !== null) output.line(`  Page of the migration: ${clientPage}`);
}

/** Returns why the migration refused the credentials; null if it did not. */
export function refusalOf({ decision }: SelfServiceStart): string | null {
  return decision?.outcome === 'refused' ? decision.text : null;
}

/** Returns whether the decision was applied, but does not use all credentials that it supplied. */
function isPartlyApplied(
  started: SelfServiceStart,
): started is SelfServiceStart & { readonly decision: NonNullable<SelfServiceStart['decision']> } {
  const { decision } = started;
  return decision?.outcome === 'applied' && isPartial(decision);
}

/** Says what to do with the file. It is needed until all of its credentials have been accepted. */
function printFileAdvice(
  output: Output,
  { files, manifest }: CheckOutcome,
  { migrationId, stored, decision, by }: SelfServiceResult,
  state: string | null,
): void {
  if (decision === null || decision.outcome === 'refused') return;
  const file = files.credentials ?? files.manifest;
  const over = state !== null && isOver(state);
  if (decision.outcome === 'applied') {
    if (isPartial(decision)) {
      output.line(`  Keep ${file}: ${decision.text}`);
      if (over) return;
      output.line(`  See which companies have no credential with: ferry companies ${migrationId} --without-credential`);
      output.line(`  Supply their credentials with: ${supplyCommand(files, migrationId, by)}`);
    } else if (stored === manifest.withCredential) output.line(`  ${plainTextAdvice(file, 'credentials')}`);
    return;
  }
  output.line(
    over
      ? `  Keep ${file}: no more moves will begin, and it is not known whether these credentials were used. If the decision that supplied them was refused, or is missing from the audit trail, they were not used. See the audit trail with: ferry audit ${migrationId}`
      : `  Keep ${file} until the credentials are used: ${decision.text}`,
  );
}

/** The start of a self-service migration, and what is known about it at the end of the command. */
interface SelfServiceResult extends SelfServiceStart {
  /** The person who confirmed the start. */
  readonly by: string;
  /** Null if no Temporal UI for clients is configured. */
  readonly clientPage: string | null;
  /** Why the credentials were refused after the start; null if they were not. */
  readonly refusedSince: string | null;
}

function nextAfter({ progress, ledgerBehind }: WatchEnd): readonly NextCommand[] {
  if (ledgerBehind && !isOver(progress.state)) return [bySupport(`ferry reconcile ${progress.migrationId}`)];
  return nextCommands(progress, NO_COMPANIES, new Date());
}

/**
 * Returns the result of `ferry self-service`.
 *
 * @param end null if the migration was not watched
 */
export function selfServiceResult(
  check: CheckOutcome,
  started: SelfServiceResult,
  end: WatchEnd | null,
): CommandResult {
  const { manifest, findings } = check;
  const { migrationId, stored, decision, preflight, retriedErrors, clientPage, refusedSince } = started;
  const next = end ? nextAfter(end) : [];
  return {
    failed:
      preflight === null ||
      refusalOf(started) !== null ||
      isPartlyApplied(started) ||
      (end !== null && end.progress.state !== 'completed'),
    json: {
      schema: SELF_SERVICE_SCHEMA,
      started: true,
      migrationId,
      companies: manifest.totals.companies,
      credentialsStored: stored,
      credentialsDecision: decision,
      preflight,
      retrying: retriedErrors,
      clientPage,
      state: end?.progress.state ?? null,
      waitingFor: end && actualWaitingFor(end.progress, end.ledgerBehind),
      counts: end?.progress.counts ?? null,
      next,
      ...findingsJson(findings),
    },
    printQuietly: (output) => output.line(migrationId),
    print: (output) => {
      end?.print(output);
      if (refusedSince !== null)
        output.line(`  Not stored: ${counted(manifest.withCredential, 'credential')}. ${sentence(refusedSince)}`);
      printFileAdvice(output, check, started, end?.progress.state ?? null);
      if (!end) return output.line(`  Watch the migration with: ferry watch ${migrationId}`);
      for (const { command, first } of next) {
        if (first !== undefined) output.line(`  First ${first}; then`);
        output.line(`  ${command}`);
      }
      output.line(`  Report: ferry report ${migrationId}`);
    },
  };
}
