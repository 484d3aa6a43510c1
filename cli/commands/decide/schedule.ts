import type { Command } from 'commander';
import { CommandFailed } from '../../shared/command-failed';
import type { LedgerClient, WindowSchedule } from '../../../client';
import { readWindowSchedule, scheduledMigrations, setSchedulePaused, triggerSchedule } from '../../../client';
import { readMigration } from '../../../store';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { BY_DEFAULT } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

interface Which {
  readonly all?: true;
}

interface Noted extends Which {
  readonly by: string;
  readonly reason?: string;
}

/** `ferry schedule`: the windows of one migration, or of all. */
export function addSchedule({ program, run, terminal }: Context): void {
  const schedule = program
    .command('schedule')
    .description('See, pause, resume and trigger the windows in which companies are started');
  const onEach = (
    command: Command,
    work: (ferry: LedgerClient, ids: readonly string[], options: Noted) => Promise<CommandResult>,
  ): void => {
    command
      .option('--all', 'of every migration whose windows are scheduled')
      .action((migration: string | undefined, options: Noted) =>
        run(() =>
          withLedgerClient(terminal.env, async (ferry) =>
            work(ferry, await chosen(ferry, migration, options), options),
          ),
        ),
      );
  };

  onEach(schedule.command('show [migration]').description('Show the next openings'), show);
  onEach(
    noted(schedule.command('pause [migration]').description('Open no further window; what is under way goes on')),
    (ferry, ids, options) => pause(ferry, ids, true, options),
  );
  onEach(
    noted(schedule.command('resume [migration]').description('Open windows again, the present one at once')),
    (ferry, ids, options) => pause(ferry, ids, false, options),
  );
  onEach(
    schedule.command('trigger [migration]').description('Open the present window now, although the schedule is paused'),
    trigger,
  );
}

function noted(command: Command): Command {
  return command
    .option('--reason <text>', 'why; Temporal shows it beside the schedule')
    .option('--by <name>', `who ${BY_DEFAULT}`);
}

async function chosen(ferry: LedgerClient, migration: string | undefined, { all }: Which): Promise<readonly string[]> {
  if ((migration === undefined) !== (all === true))
    throw new CommandFailed('which migration is meant?', 'name one, or say --all');
  if (migration !== undefined) return [migration];
  const ids: string[] = [];
  for await (const id of scheduledMigrations(ferry)) {
    // Several ledgers may share one namespace.
    if (await readMigration(ferry.db, id)) ids.push(id);
  }
  return ids.sort();
}

const OPENINGS_SHOWN = 5;

async function show(ferry: LedgerClient, ids: readonly string[]): Promise<CommandResult> {
  const schedules = await Promise.all(ids.map((id) => readWindowSchedule(ferry, id)));
  return {
    json: { schema: 'ferry.schedule/1', schedules },
    print: (output) => {
      if (schedules.length === 0) output.line('No windows are scheduled.');
      for (const each of schedules) printSchedule(output, each);
    },
  };
}

function printSchedule(output: Output, { migrationId, windows, openings, state, note }: WindowSchedule): void {
  const said = note ? ` (${note})` : '';
  const states: Readonly<Record<WindowSchedule['state'], string>> = {
    running: output.styled('green', 'windows open by themselves'),
    paused: output.styled('yellow', `paused${said}: no further window opens`),
    'not-yet': 'windows open by themselves from step 6 on; the first company waits for one, too',
    none: 'no windows: companies may be started at any time, or no longer',
  };
  output.line(`${output.styled('bold', migrationId)}  ${states[state]}`);
  const zone = windows[0]?.timeZone;
  if (openings.length === 0 || zone === undefined) return;
  output.table(
    [{ title: 'Opens' }, { title: 'Closes' }, { title: `Opens, in ${zone}` }],
    openings
      .slice(0, OPENINGS_SHOWN)
      .map(({ opensAt, closesAt }) => [localTime(opensAt), localTime(closesAt), localTime(opensAt, zone)]),
  );
}

async function pause(
  ferry: LedgerClient,
  ids: readonly string[],
  paused: boolean,
  options: Noted,
): Promise<CommandResult> {
  const { by, reason } = options;
  const note = `${paused ? 'paused' : 'resumed'} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  return forEach(ids, async (id) =>
    (await setSchedulePaused(ferry, id, paused, note)) ? { done: true, text: note } : NOT_SCHEDULED,
  );
}

async function trigger(ferry: LedgerClient, ids: readonly string[]): Promise<CommandResult> {
  return forEach(ids, async (id) => {
    const came = await triggerSchedule(ferry, id);
    if (came === undefined) return NOT_SCHEDULED;
    if (came === null) return { done: true, text: 'triggered; it is done as soon as a worker runs' };
    return { done: came.opened, text: came.text };
  });
}

interface Became {
  readonly done: boolean;
  readonly text: string;
}

const NOT_SCHEDULED: Became = { done: false, text: 'its windows are not scheduled: it has none, or is before step 6' };

async function forEach(ids: readonly string[], work: (id: string) => Promise<Became>): Promise<CommandResult> {
  const results: (Became & { readonly migrationId: string })[] = [];
  for (const migrationId of ids) results.push({ migrationId, ...(await work(migrationId)) });
  return {
    failed: results.some(({ done }) => !done),
    json: { schema: 'ferry.schedule-change/1', results },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      if (results.length === 0) output.line('No windows are scheduled.');
      for (const { migrationId, done, text } of results) {
        const mark = done ? output.styled('green', '✓') : output.styled('red', '✗');
        output.line(`${mark} ${migrationId}: ${text}`);
      }
    },
  };
}
