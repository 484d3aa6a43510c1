import { CompanyDataError, readServiceFacts } from '../../../company-data-client';
import { loadConfig } from '../../../config';
import { earliestMove } from '../../../domain/progress/first-opening';
import type { Answer, GoNoGo, GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import { goNoGo } from '../../../domain/progress/go-nogo';
import { withReconciledLedger } from '../../../domain/progress/ledger-behind';
import { withWindowsResumed } from '../../../domain/progress/open-window';
import { isSameApplication } from '../../../domain/preflight/applications';
import {
  countFailures,
  readApplications,
  readApplicationsOfMoved,
  readChangedSinceSignOff,
  readDependents,
  readLimits,
  readNextCompanies,
  readOverviews,
} from '../../../store';
import {
  isBatchRunning,
  isLedgerBehindProgress,
  isLedgerProvenBehind,
  readRetries,
  readWindowSchedule,
  readWorkers,
  type LedgerClient,
} from '../../../client';
import { shownForecast } from '../../reporting/migration-end';
import { retryTexts } from '../../reporting/retries';
import type { CommandResult, Output } from '../../terminal/output';
import { inLocalTime, localTime } from '../../terminal/times';
import { readChosenFirst } from '../../shared/chosen-first';
import type { Context } from '../../shared/context';
import { registrationCommands } from '../../suggestions/detail-commands';
import type { NextCommand } from '../../suggestions/remedy-commands';
import { readProgressOrUnanswered } from '../../connections/unanswered';
import { readOpenMigration, withLedgerClient } from '../../connections/clients';
import { withServiceAt } from '../../connections/service-client';

export function addGoNoGo({ program, run, terminal }: Context): void {
  program
    .command('go-nogo <migration>')
    .description(
      'Check whether the migration is ready for its next window, and show what would pause it and who to call',
    )
    .action((migration: string) =>
      run(() =>
        withLedgerClient(terminal.env, async (ferry) => goNoGoResult(await readFacts(terminal.env, ferry, migration))),
      ),
    );
}

async function readFacts(env: NodeJS.ProcessEnv, ferry: LedgerClient, migrationId: string): Promise<GoNoGoFacts> {
  const { migration, platform } = await readOpenMigration(
    ferry,
    migrationId,
    () => `see its outcome with: ferry report ${migrationId}`,
  );
  const { db } = ferry;
  const [
    { limits, now },
    { next, toCreate },
    failures,
    [live = null],
    { progress: recorded = null, unanswered },
    schedule,
    retries,
    applications,
    { moved },
    service,
  ] = await Promise.all([
    readLimits(db, migrationId),
    readNextCompanies(db, migrationId),
    countFailures(db, migrationId),
    readOverviews(db, [migrationId]),
    readProgressOrUnanswered(ferry, migrationId),
    readWindowSchedule(ferry, migrationId),
    readRetries(ferry, migrationId),
    readApplications(db, migration),
    readApplicationsOfMoved(db, migrationId),
    askService(env, platform.key),
  ]);
  const registered = ('application' in service && service.application) || null;
  // Not in parallel with the query for the progress, because a worker that cannot replay the workflow answers only one
  // of several pending queries.
  const isLedgerBehind = await (recorded
    ? isLedgerBehindProgress(ferry, recorded)
    : isLedgerProvenBehind(ferry, migrationId));
  const current = recorded && !isLedgerBehind ? withReconciledLedger(recorded) : recorded;
  const progress = current && schedule.state !== 'paused' ? withWindowsResumed(current) : current;
  const workers = await readWorkers(ferry, now.getTime());
  const windows = {
    windowsPaused: schedule.state === 'paused' ? (schedule.note ?? 'paused') : null,
    isBatchRunning: schedule.state === 'paused' && (await isBatchRunning(ferry, migrationId)),
  };
  return {
    migrationId,
    now: now.toISOString(),
    route: migration.route,
    platform,
    contact: migration.contact,
    limits,
    next,
    chosenFirst: progress && (await readChosenFirst(db, progress)),
    toCreate,
    failures,
    forecast: progress && shownForecast(progress, { live, ...windows, ledgerBehind: isLedgerBehind }, now),
    ...{ progress, live, isLedgerBehind },
    unanswered: unanswered ?? null,
    ...windows,
    workers,
    failing: await retryTexts(ferry, migrationId, retries, localTime),
    service,
    applications,
    dependents: await readDependents(db, migration, registered, applications),
    moved,
    changedSinceSignOff: progress ? await readChangedSinceSignOff(db, progress) : [],
  };
}

const NOT_CONFIGURED =
  'not checked, because COMPANY_DATA_URL and COMPANY_DATA_API_KEY are not set on this machine; run the command where they are set';

async function askService(env: NodeJS.ProcessEnv, platformKey: string): Promise<GoNoGoFacts['service']> {
  const { service: config } = loadConfig([], env, ['service']);
  if (!config) return { unreachable: NOT_CONFIGURED };
  try {
    return await withServiceAt(config, (service) => readServiceFacts(service, { platformKey }));
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    return { unreachable: error.message };
  }
}

function goNoGoResult(facts: GoNoGoFacts): CommandResult {
  const { migrationId } = facts;
  const result = goNoGo(facts);
  const next = registrations(facts);
  return {
    failed: !result.go,
    json: { schema: 'ferry.go-nogo/1', migrationId, ...result, next },
    print: (output) => print(output, facts, result, next),
  };
}

/** Returns the commands that register a replaced application again; empty if the registered application is unknown. */
function registrations({ migrationId, moved, service }: GoNoGoFacts): readonly NextCommand[] {
  const registered = 'application' in service ? service.application : null;
  if (registered === null) return [];
  const replaced = moved.filter(({ application }) => !isSameApplication(application, registered));
  return registrationCommands(migrationId, { moved, replaced, registered });
}

function print(output: Output, facts: GoNoGoFacts, result: GoNoGo, next: readonly NextCommand[]): void {
  const { go, answers, pauseNotes, notes, contact } = result;
  const verdict = go ? output.styled('green', 'GO') : output.styled('red', 'NO-GO');
  output.line(`${verdict}  ${output.styled('bold', facts.migrationId)} (${movesText(facts, result)})`);
  for (const answer of answers) {
    output.line(`  ${markOf(output, answer)} ${answer.check}: ${inLocalTime(answer.why)}`);
    const commands = answer.check === 'application' ? next : [];
    for (const { command } of commands) output.line(`    to register the replaced application again: ${command}`);
  }
  output.line();
  if (pauseNotes.length > 0) output.line('The migration pauses itself if:');
  for (const condition of pauseNotes) output.line(`  - ${condition}`);
  output.line('Also:');
  for (const note of notes) output.line(`  - ${inLocalTime(note)}`);
  output.line(`Who to call: ${contact}`);
}

function movesText({ now, progress, isLedgerBehind }: GoNoGoFacts, { window, pauseNotes }: GoNoGo): string {
  if (isLedgerBehind) return 'no company can move';
  if (pauseNotes.length === 0) return 'no company is waiting or moving';
  if (window !== null) return `window from ${localTime(window.opensAt)} to ${localTime(window.closesAt)}`;
  const startAt = progress?.proposal ? earliestMove(progress.proposal.startAt, now) : now;
  return startAt > now ? `moves can begin from ${localTime(startAt)}` : 'moves are not limited to certain hours';
}

function markOf(output: Output, { go, warning }: Answer): string {
  if (!go) return output.styled('red', '✗');
  return warning ? output.styled('yellow', '!') : output.styled('green', '✓');
}
