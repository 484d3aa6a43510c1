/** Tests what `ferry --portal show` prints about the view of a migration. */
import { PassThrough } from 'node:stream';
import type { MigrationView } from '../../../portal/contract/migration-view';
import { liveLines, openScreen } from '../../../cli/portal/commands/watch';
import { textOf } from '../../../cli/terminal/styled-text';
import { printView } from '../../../cli/portal/summary';
import { Output } from '../../../cli/terminal/output';
import { localTime } from '../../../cli/terminal/times';
import { sampleView } from '../../portal/page/sample-view';

function printed(changes: Partial<MigrationView>, isCurrent = true, isViewer = false, mustConfirm = false): string {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const output = new Output({ stdout, stderr: stdout, env: {} } as never, false, false);
  const answer = { view: sampleView(changes), writtenAt: '2026-11-20T09:00:00.000Z', isCurrent };
  const texts = { suggest: (command: string) => command, withMigration: (command: string) => command };
  printView(output, answer, { ...texts, canDecide: false, isViewer, mustConfirm });
  return String(stdout.read());
}

function shownLive(
  changes: Partial<MigrationView>,
  { isCurrent = true, isViewer = false, mustConfirm = false } = {},
): string {
  const answer = { view: sampleView(changes), writtenAt: '2026-11-20T09:00:00.000Z', isCurrent };
  return liveLines(answer, null, { isViewer, mustConfirm })
    .map((line) => line.map(textOf).join(''))
    .join('\n');
}

test('prints the deadline of the task and the consequence in one line, and none if there is no deadline', () => {
  const by = '2026-11-28T20:00:00.000Z';
  const ifLate =
    'If anything is still missing at that time, moves cannot begin before the next window, at 2026-12-05 20:00 UTC.';
  const task = { what: 'Turn off syncing.', why: 'It is out of date.', since: null };
  const reopens = localTime('2026-12-05T20:00:00.000Z');
  expect(printed({ task: { ...task, by, ifLate } })).toContain(
    `\n  Deadline: ${localTime(by)}. If anything is still missing at that time, moves cannot begin before the next window, at ${reopens}.\n`,
  );
  expect(printed({ task: { ...task, by } })).toContain(`\n  Deadline: ${localTime(by)}\n`);
  expect(printed({ task: { ...task, by: null } })).not.toMatch(/Deadline|By /);
});

test('the times beside the expected end are in the zone of the reader', () => {
  const end = sampleView().end;
  const basis = 'at the current rate; the window closes 2026-11-29 02:00 UTC, and moves continue 2026-11-30 20:00 UTC';
  expect(printed({ end: end && { ...end, basis } })).toContain(
    `, at the current rate; the window closes ${localTime('2026-11-29T02:00:00.000Z')}, and moves continue ${localTime('2026-11-30T20:00:00.000Z')}\n`,
  );
});

test('an old view might be out of date, but not the final view of a migration that has ended', () => {
  expect(printed({}, false)).toMatch(
    /It might be out of date, because .* not answering\. Decisions are stored, and wait until the migration answers\.\n/,
  );
  expect(printed({ state: 'completed' }, false)).not.toContain('It might be out of date');
});

test('an old view of a terminated migration has only its age, because no decision is possible', () => {
  const age = `This view is from ${localTime('2026-11-20T09:00:00.000Z')}.`;
  expect(printed({ state: 'terminated' }, false)).toContain(`${age}\n`);
  expect(shownLive({ state: 'terminated' }, { isCurrent: false })).toContain(`\n${age}`);
  for (const shown of [
    printed({ state: 'terminated' }, false),
    shownLive({ state: 'terminated' }, { isCurrent: false }),
  ])
    expect(shown).not.toMatch(/out of date|Decisions are stored/);
});

test('watch says that an old view might be out of date, in lines that fit on a terminal', () => {
  expect(shownLive({}, { isCurrent: false }).split('\n').slice(-3)).toEqual([
    `This view is from ${localTime('2026-11-20T09:00:00.000Z')}.`,
    'It might be out of date, because the migration is not answering.',
    'Decisions are stored, and wait until the migration answers.',
  ]);
  expect(shownLive({ state: 'completed' }, { isCurrent: false })).not.toContain('This view is from');
});

test('a viewer, who cannot act, is told who acts', () => {
  const next = 'Once the outcome of every company is final, you and support sign off the handover.';
  expect(printed({ next })).toContain('you and support sign off');
  expect(printed({ next })).not.toContain('"you" means');
  const forViewer = printed({ next }, true, true);
  expect(forViewer).toContain('you cannot decide. In its texts, "you" means the client.\n');
  expect(forViewer).toContain('final, the client and support sign off');
});

/** Returns the lines that `watch` writes without a terminal, without their times. */
function logged(answers: readonly (Partial<MigrationView> & { readonly isCurrent?: boolean })[], isViewer = false) {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const terminal = { stdout, stderr: stdout, env: {} } as never;
  const screen = openScreen({ output: new Output(terminal, false, false), terminal }, isViewer);
  for (const { isCurrent = true, ...changes } of answers)
    screen.show({ view: sampleView(changes), writtenAt: '2026-11-20T09:00:00.000Z', isCurrent }, null, false);
  return String(stdout.read()).replace(/^\d\d:\d\d:\d\d /gm, '');
}

test('without a terminal, watch says once how old the view is, and writes a line once it is current again', () => {
  const headline = 'Step 5 of 6.';
  const old = { headline, isCurrent: false };
  const lines = logged([{ headline }, old, old, { headline }]).trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toBe(
    `${lines[0]}. This view is from ${localTime('2026-11-20T09:00:00.000Z')}. It might be out of date, because the migration is not answering. Decisions are stored, and wait until the migration answers.`,
  );
  expect(lines[2]).toBe(lines[0]);
});

test('watch tells a viewer once who "you" is, until the migration is over', () => {
  const log = logged([{ headline: 'Step 4 of 6.' }, { headline: 'Step 5 of 6.' }], true);
  expect(log.match(/In its texts, "you" means the client\.\n/g)).toHaveLength(1);
  expect(logged([{}])).not.toContain('"you" means');
  expect(logged([{ state: 'completed' }], true)).not.toContain('"you" means');
  expect(shownLive({}, { isViewer: true })).toContain('cannot decide.\nIn its texts, "you" means the client.\n');
  expect(shownLive({ state: 'completed' }, { isViewer: true })).not.toContain('"you" means');
});

test('watch lists the problems to solve below the task, and tells a viewer that the client must act', () => {
  const task = { what: 'Correct these details:', problems: ['no Xero application is registered'], why: 'It matters.' };
  const view = sampleView({ task: { ...task, since: null, by: null } });
  const answer = { view, writtenAt: '2026-11-20T09:00:00.000Z', isCurrent: true };
  const shown = (isViewer: boolean) =>
    liveLines(answer, null, { isViewer, mustConfirm: false })
      .map((line) => line.map(textOf).join(''))
      .join('\n');
  expect(shown(false)).toContain(
    'What you need to do: Correct these details:\n  ✗ no Xero application is registered\n',
  );
  expect(shown(true)).toContain('What the client needs to do: Correct these details:\n');
});

test('lists the problems to solve in the task, once, and tells a viewer that the client must act', () => {
  const problems = ['no Xero application is registered'];
  const task = { what: 'Correct these details:', problems, why: 'It matters.', since: null, by: null };
  const changes = { task, details: { isChecking: false, problems, warnings: [] } };
  const out = printed(changes);
  expect(out).toContain(
    'What you need to do: Correct these details:\n  ✗ no Xero application is registered\n  It matters.\n',
  );
  expect(out.split('no Xero application is registered')).toHaveLength(2);
  expect(printed(changes, true, true)).toContain('What the client needs to do: Correct these details:\n');
  expect(printed({ task: null }, true, true)).toContain('Nothing for the client to do now.');
});

test('a person whose key is not confirmed has something to do, even if the migration needs nothing', () => {
  const headline = '41 of 60 companies have moved, 19 to go. Nothing for you to do.';
  const text = printed({ task: null, headline }, true, false, true);
  expect(text).toContain('41 of 60 companies have moved, 19 to go. Call your contact to confirm your key.\n');
  expect(text).toContain('\nWhat you need to do: Call your contact to confirm your key.\n');
  expect(text).not.toContain('Nothing for you to do');
  expect(printed({ task: null, headline })).toContain('Nothing for you to do now.');
  const live = shownLive({ task: null, headline }, { mustConfirm: true });
  expect(live).toContain('19 to go. Call your contact to confirm your key.\n');
  expect(live).toContain('\nWhat you need to do: Call your contact to confirm your key.\n');
});
