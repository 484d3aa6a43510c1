/** The screen that a state of the desk is, and what keys make of it: no terminal is needed to know. */
import { frameOf, rowsInSight } from '../../../cli/dashboard/frame';
import { pressed } from '../../../cli/dashboard/keys';
import type { DashboardRow, DashboardState, Reading } from '../../../cli/dashboard/state';
import { EMPTY_DASHBOARD, withReading } from '../../../cli/dashboard/state';
import { textOf, widthOf } from '../../../cli/terminal/line';

const NOW = new Date('2026-03-02T22:04:11Z');
const SIZE = { columns: 80, rows: 24 };
const HEIGHT = rowsInSight(SIZE);

const row = (migrationId: string, some: Partial<DashboardRow> = {}): DashboardRow => ({
  migrationId,
  state: 'waiting',
  step: 'schedule',
  waitingFor: 'client',
  total: 25,
  done: 0,
  failed: 0,
  startedAt: NOW,
  missingKey: null,
  overview: null,
  facts: null,
  ...some,
});

const facts = { what: 'w', waitingSince: null, standsStill: false, windows: [], endsBy: null };
const overview = (done: number, moved: number) => ({
  migrationId: '',
  total: 1203,
  done,
  exceptions: 12,
  moved,
  withinMs: 600_000,
});
const moving = row('moving.wave', {
  state: 'running',
  step: 'complete-migration',
  waitingFor: 'nobody',
  overview: overview(703, 410),
  facts,
});

function desk(rows: readonly DashboardRow[], reading: Partial<Reading> = {}): DashboardState {
  return withReading(EMPTY_DASHBOARD, { rows, trouble: null, at: NOW.getTime(), ...reading });
}

function linesOf(state: DashboardState, size = SIZE): readonly string[] {
  return frameOf(state, size, NOW).map((line) => line.map(textOf).join('').trimEnd());
}

function afterKeys(state: DashboardState, ...keys: string[]): DashboardState {
  return keys.reduce((before, key) => pressed(before, key, HEIGHT).state, state);
}

test('who has to act comes first: support, then what moves, then the client', () => {
  const { rows } = desk([
    row('a.wave'),
    moving,
    row('z.wave', { waitingFor: 'support' }),
    row('b.wave', { state: 'paused', waitingFor: 'support' }),
  ]);
  expect(rows?.map(({ migrationId }) => migrationId)).toEqual(['b.wave', 'z.wave', 'moving.wave', 'a.wave']);
});

test('what moves shows its rate, and when the rest is done at that rate', () => {
  const line = linesOf(desk([moving])).find((each) => each.includes('moving.wave'));
  // 500 are left, at 41 a minute.
  expect(line).toMatch(/6\/6 at work +█+░+ +703\/1203 +41 +22:16 +12$/);
});

test('a rate of what waits is none, and an estimate that has passed is none', () => {
  const passed = row('passed.wave', {
    overview: overview(1, 10),
    facts: { ...facts, endsBy: '2026-03-02T21:00:00.000Z' },
  });
  expect(linesOf(desk([passed]))[3]).toMatch(/1\/1203 +12$/);
});

test.each([
  [76, 16],
  [80, 24],
  [200, 60],
])('fills exactly %i columns and %i lines, whatever names are in it', (columns, rows) => {
  const names = ['x'.repeat(150), '会社'.repeat(30), 'e\u0301'.repeat(40), '\u001b[31mred', 'short'];
  const state = desk(
    names.map((name) => row(name, { facts: { ...facts, what: `${name} `.repeat(20) } })),
    { trouble: 'Temporal does not answer' },
  );
  const lines = frameOf(state, { columns, rows }, NOW);
  expect(lines).toHaveLength(rows);
  const widths = lines.map((line) => widthOf(line.map(textOf).join('')));
  expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
});

test('what does not answer is said with the time of what is shown, until everything answers again', () => {
  const stale = withReading(desk([moving]), { trouble: 'Temporal does not answer', at: NOW.getTime() + 60_000 });
  expect(linesOf(stale)[1]).toMatch(/^as of \d\d:04:11: Temporal does not answer; tried again by itself$/);
  expect(linesOf(stale)[3]).toContain('moving.wave');
  const again = withReading(stale, { rows: [moving], trouble: null, at: NOW.getTime() + 61_000 });
  expect(linesOf(again)[1]).toBe('');
});

test('the selection stays with its migration when the order changes, and moves on when it has ended', () => {
  const state = afterKeys(desk([row('a.wave'), row('b.wave'), row('c.wave')]), 'down');
  expect(state.selected).toBe('b.wave');
  const reordered = withReading(state, {
    rows: [row('a.wave'), row('b.wave'), row('c.wave', { waitingFor: 'support' })],
    trouble: null,
    at: 0,
  });
  expect(reordered.selected).toBe('b.wave');
  expect(withReading(reordered, { rows: [row('a.wave')], trouble: null, at: 0 }).selected).toBe('a.wave');
});

test('hundreds are paged: the selected one is always in sight', () => {
  const many = desk(Array.from({ length: 300 }, (_, index) => row(`m${String(index).padStart(3, '0')}.wave`)));
  for (const keys of [['end'], ['pagedown', 'pagedown'], ['end', 'up', 'pageup'], ['end', 'home']]) {
    const state = afterKeys(many, ...keys);
    expect(linesOf(state).some((line) => line.startsWith(`▸ ${state.selected}`))).toBe(true);
  }
});

test('keys wish for decisions about the selected migration: resume where it is paused', () => {
  const state = desk([row('p.wave', { state: 'paused', waitingFor: 'support' })]);
  expect(pressed(state, 'p', HEIGHT).wish).toEqual({ kind: 'resume', migrationId: 'p.wave' });
  expect(pressed(state, 'a', HEIGHT).wish).toEqual({ kind: 'approve', migrationId: 'p.wave' });
  expect(pressed(desk([]), 'a', HEIGHT).wish).toBeUndefined();
  expect(pressed(state, 'ctrl-c', HEIGHT).wish).toBe('quit');
});

test('help covers the screen until any key, and what was said is gone with the next one', () => {
  const said = { ...desk([moving]), said: { became: 'refused', text: 'too late' } as const };
  expect(linesOf(said)).toContain('✗ refused: too late');
  const help = afterKeys(said, '?');
  expect(linesOf(help).filter((line) => widthOf(line) > SIZE.columns)).toEqual([]);
  expect(linesOf(help).join('\n')).toContain('approve the open step');
  expect(linesOf(afterKeys(help, 'a')).join('\n')).not.toContain('too late');
});

test('where nothing is open it says how to begin', () => {
  expect(linesOf(desk([])).join('\n')).toContain('No migration is open. Start one with: ferry start');
});
