/** Tests `ferry schedule`, which shows, pauses, resumes and triggers windows. */
import {
  closedWindows,
  startTestMigration,
  windowChange,
  SUPPORT,
  type TestMigration,
} from '../../workflows/running-migration';
import { clearLedgerFlag, flagLedger } from '../../../store';
import { openReader } from '../../../cli/dashboard/reader';
import { until } from '../../support/async';
import { scheduleIdOf } from '../../../domain/migration/temporal-names';
import type { Progress } from '../../../domain/progress/progress';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { localTime } from '../../../cli/terminal/times';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { inTimeZone } from '../time-zone';

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
beforeAll(async () => {
  migration = await startTestMigration(orchestrator, 'on-schedule', ['sbx-ok-1.ws1', 'sbx-ok-1.ws2']);
});

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('show prints the future windows before step 6, when there is no Schedule yet', async () => {
  expect((await run('schedule', 'show', migration.id)).out).toContain('no windows');
  await migration.send('adjust', windowChange(closedWindows().map((each) => ({ ...each, timeZone: 'Europe/London' }))));
  const { exitCode, out } = await run('schedule', 'show', migration.id);
  expect(exitCode).toBe(0);
  expect(out).toContain('in step 6, a schedule opens the windows');
  expect(out).toContain('Opens, in Europe/London');
  expect(out).toMatch(/12:00 UTC/);
  expect(await runJson(orchestrator, 'schedule', 'pause', migration.id)).toMatchObject({
    exitCode: 1,
    json: {
      results: [
        {
          done: false,
          text: `no schedule yet: the schedule that opens the windows is created in step 6; to stop moves, run: ferry pause ${migration.id}`,
        },
      ],
    },
  });
});

test('--all says that no migration has a schedule, and what that means', async () => {
  const none = 'o migration has a schedule that opens its windows. A migration with windows gets one in step 6';
  const all = async (action: string) => (await run('schedule', action, '--all')).out;
  expect(await all('show')).toContain(`N${none} (in self-service, from the start).`);
  expect(await all('trigger')).toContain(`Nothing was changed: n${none}`);
  expect(await all('resume')).not.toContain('ferry pause');
  expect(await all('pause')).toContain(
    'To stop the moves of a migration, pause the migration itself; to see how, run: ferry pause --help',
  );
});

test('show says when the Schedule is created, if all companies are released before it exists', async () => {
  const { db } = orchestrator.ferry;
  const released = (release: 'all' | 'nothing') =>
    db.updateTable('migrations').set({ released: release }).where('id', '=', migration.id).execute();
  await released('all');
  try {
    expect((await run('schedule', 'show', migration.id)).out).toContain(
      'moves begin only in the windows; the schedule that opens them is created before the next batch run',
    );
    expect((await run('schedule', 'pause', migration.id)).out).toContain(
      'no schedule yet: the schedule that opens the windows is created before the next batch run',
    );
  } finally {
    await released('nothing');
  }
});

test('a proposed start outside the windows is shown with the first opening after it, before it is approved', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60_000).toISOString();
  const startAt = `${inDays(5).slice(0, 10)}T00:00:00.000Z`;
  // The window opens twelve hours after the start, on the same day.
  const day = new Date(startAt).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' }).toLowerCase();
  const windows = ['--window', `${day} 12:00-12:01 UTC`];
  const opensAt = `${startAt.slice(0, 10)}T12:00:00.000Z`;
  await migration.until(({ step }) => step === 'supply-details' || step === 'schedule');
  const proposed = await run('propose-time', migration.id, startAt, ...windows, '--by', 'Sam');
  expect(proposed.out).toContain('! the start is outside the windows; the next window opens');
  const again = await runJson(orchestrator, 'propose-time', migration.id, startAt, ...windows, '--by', 'Sam');
  expect(again.json).toMatchObject({ outcome: 'applied', firstOpening: { opensAt } });
  expect(await runJson(orchestrator, 'show', migration.id)).toMatchObject({ json: { firstOpening: { opensAt } } });
  const { db } = orchestrator.ferry;
  await flagLedger(db, migration.id);
  expect(await runJson(orchestrator, 'show', migration.id)).toMatchObject({
    json: { ledgerBehind: true, firstOpening: null, forecast: null, waitingFor: { roles: ['support'] } },
  });
  await clearLedgerFlag(db, migration.id, 0);
  expect((await run('show', migration.id)).out).toContain('! the start is outside the windows; the next window opens');
  const asked = await ferry(['approve', migration.id, 'schedule'], undefined, orchestrator.env, {
    confirm: async () => false,
    secret: async () => '',
  });
  expect(asked.out).toContain('! the start is outside the windows; the next window opens');

  // `ferry schedule show` leaves out the openings before the start.
  await until(async () => {
    const { json } = await runJson(orchestrator, 'schedule', 'show', migration.id);
    const [schedule] = json['schedules'] as { startAt: string | null; occurrences: { opensAt: string }[] }[];
    return schedule?.startAt === startAt && schedule.occurrences[0]?.opensAt === opensAt;
  });
  expect((await run('schedule', 'show', migration.id)).out).toContain('Windows from the start onwards (');
});

test('windows can be paused with a note and resumed in step 6, and cannot be triggered outside their hours', async () => {
  await migration.send('adjust', windowChange([]));
  await migration.firstCompanyMoved();
  await migration.send('adjust', windowChange(closedWindows()));
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await until(async () => (await run('schedule', 'show', '--all')).out.includes('open automatically'));

  const paused = await run('schedule', 'pause', migration.id, '--by', 'Sam', '--reason', 'month end');
  expect(paused).toMatchObject({ exitCode: 0 });
  expect(paused.out).toContain(
    `month end; no window opens automatically until you run: ferry schedule resume ${migration.id}`,
  );
  expect((await run('schedule', 'pause', migration.id, '--by', 'Alex')).out).toContain(
    `: already paused (paused by Sam: month end); no window opens automatically until you run: ferry schedule resume ${migration.id}\n`,
  );
  expect((await run('show', migration.id)).out).toContain(
    `No window opens now (paused by Sam: month end). To open windows again: ferry schedule resume ${migration.id}\n`,
  );
  expect((await runJson(orchestrator, 'show', migration.id)).json['next']).toContainEqual({
    ...{ who: 'support', command: `ferry schedule resume ${migration.id}` },
  });
  expect((await run('schedule', 'show', migration.id)).out).toContain(
    'no further window opens (paused by Sam: month end)',
  );
  const { json } = await runJson(orchestrator, 'go-nogo', migration.id);
  expect(json['answers']).toContainEqual(expect.objectContaining({ check: 'window', go: false }));

  // Temporal's own tools do not notify the migration, which still waits for the windows.
  const isForWindows = ({ waitingFor }: Progress): boolean => waitingFor.what.startsWith('resume the windows');
  await migration.until(isForWindows);
  const { temporal } = orchestrator.ferry;
  await temporal.schedule.getHandle(scheduleIdOf(migration.id)).unpause('resumed by Sam');
  await until(async () => (await runJson(orchestrator, 'show', migration.id)).json['windowsPaused'] === null);
  const resumed = await run('show', migration.id);
  await migration.until(isForWindows);
  expect(resumed.out).not.toContain('esume the windows');
  expect(resumed.out).toContain('\nThe remaining companies are moved in the window from ');
  expect(await runJson(orchestrator, 'show', migration.id)).toMatchObject({
    json: { state: 'running', waitingFor: { roles: [] }, waitingSince: null, areWindowsPaused: false },
  });
  expect((await runJson(orchestrator, 'go-nogo', migration.id)).json['answers']).toContainEqual(
    expect.objectContaining({ check: 'decisions', go: true }),
  );

  const repeated = await run('schedule', 'resume', '--all', '--by', 'Alex');
  expect(repeated.exitCode).toBe(0);
  expect(repeated.out).toContain(': nothing was changed, because the windows are not paused\n');
  expect(await runJson(orchestrator, 'schedule', 'show', migration.id)).toMatchObject({
    json: { schema: 'ferry.schedule/1', schedules: [{ state: 'running', note: 'resumed by Sam' }] },
  });
  const triggered = await run('schedule', 'trigger', migration.id);
  expect(triggered.exitCode).toBe(1);
  expect(triggered.out).toMatch(/outside the windows; the next window opens at \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
});

test('watch stops, and show and the desk say why no window opens, if the windows were paused only in Temporal', async () => {
  const { ferry } = orchestrator;
  const schedule = ferry.temporal.schedule.getHandle(scheduleIdOf(migration.id));
  await schedule.pause('month end, Sam');
  const detail = async () => {
    const reading = await openReader(ferry)({ visibleRows: () => [], shownMigrationId: migration.id });
    return reading.detail?.schedule;
  };
  await until(async () => (await detail())?.windowsPaused === 'month end, Sam');
  expect(await runJson(orchestrator, 'show', migration.id)).toMatchObject({
    json: { windowsPaused: 'month end, Sam', areWindowsPaused: true },
  });
  const { exitCode, out } = await run('watch', migration.id, '--until-decision');
  expect(exitCode).toBe(0);
  expect(out).toContain(
    `No window opens now (month end, Sam). To open windows again: ferry schedule resume ${migration.id}\n`,
  );
  expect(await run('schedule', 'resume', '--all', '--by', 'Sam')).toMatchObject({ exitCode: 0 });
});

test('pausing the windows says how long companies continue to move in the open window', async () => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  await migration.send('adjust', windowChange([{ days, from: '00:00', to: '23:59', timeZone: 'UTC' }]));
  await inTimeZone('Asia/Kathmandu', async () => {
    const closes = String.raw`\w{3} \d+ \w{3} \d{4}, 05:44 UTC\+05:45`;
    expect((await run('schedule', 'trigger', migration.id)).out).toMatch(
      new RegExp(`a window is open until ${closes}`),
    );
    expect((await run('go-nogo', migration.id)).out).toMatch(new RegExp(`no move begins from ${closes} until`));
  });
  const { out } = await run('schedule', 'pause', migration.id, '--by', 'Sam');
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /paused by Sam; no further window opens\. If the current window is already open, companies keep moving until it closes at .* 23:59.*, unless the migration is paused\. To stop moves now, run: ferry pause /,
  );
  expect(await run('schedule', 'resume', migration.id)).toMatchObject({ exitCode: 0 });
});

test('pausing windows that cover the whole week says that moves continue in an open window, and that no other opens', async () => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  await migration.send('adjust', windowChange([{ days, from: '00:00', to: '00:00', timeZone: 'UTC' }]));
  const stop = `The windows cover the whole week: if one is already open, companies keep moving unless the migration is paused. To stop moves now, run: ferry pause ${migration.id}\n`;
  expect((await run('schedule', 'pause', migration.id, '--by', 'Sam')).out).toContain(
    `paused by Sam; no further window opens. ${stop}`,
  );
  const { out } = await run('schedule', 'show', migration.id);
  expect(out).toContain('no further window opens (paused by Sam)\n');
  expect(out).toContain(`\n${stop}`);
  expect(out).not.toContain('Opens');
  expect(await run('schedule', 'resume', migration.id)).toMatchObject({ exitCode: 0 });
});

test('show requires a known migration or --all, and sweep finds nothing while migrations are running', async () => {
  expect(await run('schedule', 'show')).toMatchObject({ exitCode: 1 });
  expect(await runJson(orchestrator, 'sweep')).toMatchObject({ exitCode: 0, json: { schedulesDeleted: [], open: [] } });
  expect((await run('schedule', 'show', 'nobody.quickbooks-online')).exitCode).toBe(1);
});

test('show prints no closing time if the windows cover the whole week, and says when a migration has ended', async () => {
  const always = await startTestMigration(orchestrator, 'always-open', ['sbx-ok-1']);
  await always.send(
    'adjust',
    windowChange([
      { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '00:00', timeZone: 'UTC' },
    ]),
  );
  const { out } = await run('schedule', 'show', always.id);
  expect(out).toContain('The windows cover the whole week, so moves can begin at any time.\n');
  expect(out).not.toContain('Closes');
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  await always.send('proposeTime', { startAt, ...SUPPORT });
  const begin = `so moves can begin at any time after the start (${localTime(startAt)}).\n`;
  await until(async () => (await run('schedule', 'show', always.id)).out.includes(begin));
  await always.send('adjust', windowChange([]));
  await always.send('cancel', { reason: 'the test has ended', ...SUPPORT });
  await until(async () => (await run('schedule', 'show', always.id)).out.includes('the migration has ended'));
});

test('a migration that was terminated before it had a Schedule has none to come, and no moves to stop', async () => {
  const terminated = await startTestMigration(orchestrator, 'ended-by-force', ['sbx-ok-1']);
  await terminated.send('adjust', windowChange(closedWindows()));
  await orchestrator.ferry.temporal.workflow.getHandle(terminated.id).terminate();
  const why = `terminated in Temporal at .*, so no company moves; to close the migration, run: ferry sweep --close ${terminated.id}\n`;
  const shown = await run('schedule', 'show', terminated.id);
  expect(shown.out).toMatch(new RegExp(`^${terminated.id}  ${why}$`));
  for (const action of ['pause', 'resume', 'trigger']) {
    const { exitCode, out } = await run('schedule', action, terminated.id);
    expect([exitCode, out]).toEqual([1, expect.stringMatching(new RegExp(`: nothing was changed: ${why}$`))]);
  }
});

test('the Schedule of a terminated migration is not changed, because its windows move nothing', async () => {
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).terminate();
  const schedule = orchestrator.ferry.temporal.schedule.getHandle(scheduleIdOf(migration.id));
  const before = (await schedule.describe()).state;
  for (const action of ['pause', 'resume', 'trigger']) {
    const { exitCode, out } = await run('schedule', action, migration.id);
    expect(out).toMatch(/: nothing was changed: terminated in Temporal at .*, so no company moves; /);
    expect(out).toContain(`to close the migration, run: ferry sweep --close ${migration.id}\n`);
    expect(exitCode).toBe(1);
  }
  expect((await schedule.describe()).state).toEqual(before);
});
