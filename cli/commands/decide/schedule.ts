import type { Command } from 'commander';
import { CommandFailed } from '../../shared/errors';
import {
  notifyMigration,
  readEndBeforeClosing,
  readWindowSchedule,
  scheduledMigrations,
  setSchedulePaused,
  triggerSchedule,
  type LedgerClient,
  type WindowSchedule,
} from '../../../client';
import { endedInTemporalText } from '../../../domain/migration/terminated';
import { isAlwaysOpen } from '../../../domain/planning/windows';
import { sentence } from '../../../domain/text/sentences';
import { readMigration } from '../../../store';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import { inLocalTime, localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { DEFAULT_BY } from '../../shared/decisions';
import { withLedgerClient } from '../../connections/clients';

interface ScheduleOptions {
  readonly all?: true;
  readonly by: string;
  readonly reason?: string;
}

/** `ferry schedule`: shows and controls the windows of one migration, or of all migrations. */
export function addSchedule({ program, run, terminal }: Context): void {
  const schedule = program
    .command('schedule')
    .description('Show the windows in which moves may begin, pause or resume them, or open one that is due now');
  const addAction = (
    command: Command,
    work: (ferry: LedgerClient, ids: readonly string[], options: ScheduleOptions) => Promise<CommandResult>,
  ): void => {
    command
      .option('--all', 'every migration that has a schedule')
      .action((migration: string | undefined, options: ScheduleOptions) =>
        run(() =>
          withLedgerClient(terminal.env, async (ferry) =>
            work(ferry, await selectMigrations(ferry, migration, options), options),
          ),
        ),
      );
  };

  addAction(schedule.command('show [migration]').description('Show when the next windows open'), show);
  addAction(
    addNoteOptions(
      schedule
        .command('pause [migration]')
        .description('Stop opening windows; in a window that is already open, companies keep moving until it closes'),
    ),
    (ferry, ids, options) => pause(ferry, ids, true, options),
  );
  addAction(
    addNoteOptions(
      schedule
        .command('resume [migration]')
        .description('Open the windows again; if a window is due now, it opens at once'),
    ),
    (ferry, ids, options) => pause(ferry, ids, false, options),
  );
  addAction(
    schedule
      .command('trigger [migration]')
      .description(
        'If a window is due now, open it at once, even if the schedule is paused. Outside the windows, nothing is opened',
      ),
    trigger,
  );
}

function addNoteOptions(command: Command): Command {
  return command
    .option('--reason <text>', 'reason for the change; Temporal shows it with the schedule')
    .option('--by <name>', `name of the person who makes the change ${DEFAULT_BY}`);
}

async function selectMigrations(
  ferry: LedgerClient,
  migration: string | undefined,
  { all }: ScheduleOptions,
): Promise<readonly string[]> {
  if ((migration === undefined) !== (all === true))
    throw new CommandFailed('specify either one migration or --all', 'list the migrations with: ferry list');
  if (migration !== undefined) return [migration];
  const ids: string[] = [];
  for await (const id of scheduledMigrations(ferry)) {
    // Skips migrations of other ledgers, which can be in the same namespace.
    if (await readMigration(ferry.db, id)) ids.push(id);
  }
  return ids.sort();
}

const OPENINGS_SHOWN = 5;

/** The answer to `--all`. Says which schedule is meant, because step 2 has the same name. */
const NONE_SCHEDULED =
  'no migration has a schedule that opens its windows. A migration with windows gets one in step 6 (in self-service, from the start).';

async function show(ferry: LedgerClient, ids: readonly string[]): Promise<CommandResult> {
  const [schedules, ends] = await Promise.all([
    Promise.all(ids.map((id) => readWindowSchedule(ferry, id))),
    Promise.all(ids.map((id) => readEndText(ferry, id))),
  ]);
  return {
    json: { schema: 'ferry.schedule/1', schedules },
    print: (output) => {
      if (schedules.length === 0) output.line(sentence(NONE_SCHEDULED));
      for (const [index, each] of schedules.entries()) printSchedule(output, each, ends[index] ?? null);
    },
  };
}

/**
 * Returns how a migration has ended, even if it is not closed yet, because its workflow was terminated in Temporal;
 * null if it has not ended.
 */
async function readEndText(ferry: LedgerClient, migrationId: string): Promise<string | null> {
  const migration = await readMigration(ferry.db, migrationId);
  if (migration?.state === 'closed') return 'the migration has ended';
  const ended = migration ? await readEndBeforeClosing(ferry, migration) : null;
  return (
    ended &&
    `${endedInTemporalText(ended)}, so no company moves; to close the migration, run: ferry sweep --close ${migrationId}`
  );
}

/** @param end how the migration has ended; null if it has not ended */
function printSchedule(output: Output, schedule: WindowSchedule, end: string | null): void {
  const { migrationId, windows, occurrences, state, note, startAt, allReleased } = schedule;
  const states: Readonly<Record<WindowSchedule['state'], string>> = {
    running: output.styled('green', 'windows open automatically'),
    paused: output.styled('yellow', `no further window opens (${note ?? 'paused'})`),
    'not-yet': allReleased
      ? 'moves begin only in the windows; the schedule that opens them is created before the next batch run'
      : 'all moves, including the move of the first company, begin only in the windows; in step 6, a schedule opens the windows',
    none: 'no windows: moves are not limited to certain hours',
  };
  output.line(`${output.styled('bold', migrationId)}  ${end === null ? states[state] : inLocalTime(end)}`);
  const zone = windows[0]?.timeZone;
  if (end !== null || occurrences.length === 0 || zone === undefined) return;
  const isPaused = state === 'paused';
  if (isAlwaysOpen(windows))
    return output.line(
      isPaused
        ? `${ALWAYS_OPEN}. To stop moves now, run: ferry pause ${migrationId}`
        : `The windows cover the whole week, so moves can begin at any time${startAt === null ? '' : ` after the start (${localTime(startAt)})`}.`,
    );
  if (isPaused) output.line('The windows, once the schedule is resumed:');
  else if (startAt !== null) output.line(`Windows from the start onwards (${localTime(startAt)}):`);
  output.table(
    ['Opens', 'Closes', `Opens, in ${zone}`],
    occurrences
      .slice(0, OPENINGS_SHOWN)
      .map(({ opensAt, closesAt }) => [localTime(opensAt), localTime(closesAt), localTime(opensAt, zone)]),
  );
}

async function pause(
  ferry: LedgerClient,
  ids: readonly string[],
  paused: boolean,
  options: ScheduleOptions,
): Promise<CommandResult> {
  const { by, reason } = options;
  const note = `${paused ? 'paused' : 'resumed'} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  const adviceIfNone = paused
    ? ' To stop the moves of a migration, pause the migration itself; to see how, run: ferry pause --help'
    : '';
  return changeEach(ferry, ids, adviceIfNone, async (id) => {
    const { state, note: earlier } = await readWindowSchedule(ferry, id);
    // A pause without a reason must not replace the reason of an earlier pause.
    if (paused ? state === 'paused' && reason === undefined : state === 'running') {
      await notifyMigration(ferry, id);
      const text = paused
        ? `already paused${earlier === null ? '' : ` (${earlier})`}; ${await untilResumed(ferry, id)}`
        : 'nothing was changed, because the windows are not paused';
      return { done: true, text };
    }
    if (!(await setSchedulePaused(ferry, id, paused, note)))
      return notScheduled(ferry, id, paused ? `; to stop moves, run: ferry pause ${id}` : '');
    return { done: true, text: paused ? `${note}; ${await untilResumed(ferry, id)}` : note };
  });
}

/**
 * Describes the effect of a pause on windows that cover the whole week. Once a window is open, it never closes, but if
 * none was opened before the pause, no batch run begins.
 */
const ALWAYS_OPEN =
  'The windows cover the whole week: if one is already open, companies keep moving unless the migration is paused';

/** Describes the effect of a pause. A window that is already open stays open until its closing time. */
async function untilResumed(ferry: LedgerClient, id: string): Promise<string> {
  const { windows, occurrences } = await readWindowSchedule(ferry, id);
  // Omits the closing time if the windows never close: it is only the time up to which the occurrence was computed.
  if (isAlwaysOpen(windows))
    return `no further window opens. ${ALWAYS_OPEN}. To stop moves now, run: ferry pause ${id}`;
  const [first] = occurrences;
  if (first === undefined || Date.parse(first.opensAt) > Date.now())
    return `no window opens automatically until you run: ferry schedule resume ${id}`;
  return `no further window opens. If the current window is already open, companies keep moving until it closes at ${localTime(first.closesAt)}, unless the migration is paused. To stop moves now, run: ferry pause ${id}`;
}

async function trigger(ferry: LedgerClient, ids: readonly string[]): Promise<CommandResult> {
  return changeEach(ferry, ids, '', async (id) => {
    const outcome = await triggerSchedule(ferry, id);
    if (outcome === undefined) return notScheduled(ferry, id, '');
    if (outcome === null)
      return {
        done: true,
        text: 'triggered, but no worker has answered yet; if a window is due now, it opens once a worker answers. To check the workers, run: ferry doctor',
      };
    return { done: outcome.opened, text: outcome.text };
  });
}

interface ChangeResult {
  readonly done: boolean;
  readonly text: string;
}

/** Returns why a migration that has not ended has no Schedule, with the advice. */
async function notScheduled(ferry: LedgerClient, migrationId: string, advice: string): Promise<ChangeResult> {
  const { windows, allReleased } = await readWindowSchedule(ferry, migrationId);
  const failed = (text: string): ChangeResult => ({ done: false, text });
  if (windows.length === 0) return failed(`no schedule: the migration has no windows${advice}`);
  const when = allReleased ? 'before the next batch run' : 'in step 6';
  return failed(`no schedule yet: the schedule that opens the windows is created ${when}${advice}`);
}

/**
 * Changes the Schedules of migrations, except of migrations that have ended: their Schedules open no window.
 *
 * @param adviceIfNone a sentence that is added if there is no migration to change
 */
async function changeEach(
  ferry: LedgerClient,
  ids: readonly string[],
  adviceIfNone: string,
  work: (id: string) => Promise<ChangeResult>,
): Promise<CommandResult> {
  const results: (ChangeResult & { readonly migrationId: string })[] = [];
  let failed = false;
  for (const migrationId of ids) {
    const end = await readEndText(ferry, migrationId);
    const result = end === null ? await work(migrationId) : { done: false, text: `nothing was changed: ${end}` };
    results.push({ migrationId, ...result });
    // Among several migrations, one that has ended is not a failure, because there is nothing to change.
    failed ||= !result.done && (end === null || ids.length === 1);
  }
  return {
    failed,
    json: { schema: 'ferry.schedule-change/1', results },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      if (results.length === 0) output.line(`Nothing was changed: ${NONE_SCHEDULED}${adviceIfNone}`);
      for (const { migrationId, done, text } of results) {
        const mark = done ? output.styled('green', '✓') : output.styled('red', '✗');
        output.line(`${mark} ${migrationId}: ${inLocalTime(text)}`);
      }
    },
  };
}
