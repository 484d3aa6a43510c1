/** Tests how the dashboard renders states and handles keys, without a terminal. */
import { frameOf } from '../../../cli/dashboard/frame';
import { handleKey } from '../../../cli/dashboard/keys';
import { withReading, type MigrationDetail } from '../../../cli/dashboard/state';
import { companyLines, stepLines } from '../../../cli/dashboard/migration-lines';
import { companiesOutcomeText } from '../../../domain/migration/partial-outcome';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { textOf, widthOf } from '../../../cli/terminal/styled-text';
import type { LedgerCompany, Overview } from '../../../store';
import {
  NOW,
  SIZE,
  row,
  RUNNING,
  ESTIMATE,
  progress,
  CONFIRMERS,
  overview,
  moving,
  stateOf,
  linesOf,
  afterKeys,
  HEIGHT,
} from './dashboard-states';

test('the list shows migrations waiting for support first, then running ones, then those waiting for the client', () => {
  const { rows } = stateOf([
    row('a.wave'),
    moving,
    row('z.wave', { waitingFor: 'support' }),
    row('b.wave', { state: 'paused', waitingFor: 'support' }),
  ]);
  expect(rows?.map(({ migrationId }) => migrationId)).toEqual(['b.wave', 'z.wave', 'moving.wave', 'a.wave']);
});

test('a running migration shows its rate and when it will end at that rate', () => {
  const line = linesOf(stateOf([moving])).find((each) => each.includes('moving.wave'));
  // 500 companies are still to be moved, at 41 per minute.
  expect(line).toMatch(/6\/6 running +█+░+ +703\/1203 +41 +22:17 +12$/);
});

test.each<[string, Partial<typeof RUNNING>]>([
  ['paused', { pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } }],
  ['on hold', { outage: { why: 'answered 503', since: AT, until: AT } }],
])('a migration that is %s shows no estimated end, neither in the list nor on its page', (state, changes) => {
  const held = progressOf(migrationPlan(), { ...RUNNING, estimate: ESTIMATE, ...changes });
  const list = linesOf(stateOf([{ ...moving, state: held.state, progress: held }]));
  expect(list[3]).toMatch(/703\/1203 +(41 +)?12$/);
  const lines = companyLines({ progress: held, overview: overview(703, 410) }, NOW).map((line) =>
    line.map(textOf).join(''),
  );
  expect(lines.join('\n')).not.toMatch(/ends|more by/);
  expect(state).not.toBe('');
});

test('the list shows how long a migration has been paused, although the wait for a person began later', () => {
  const pause = { reason: 'holiday', by: 'Sam', stopReason: null, at: AT };
  const wait = { key: 'k', since: NOW.toISOString(), reminders: 0, escalated: false, stopNotified: false };
  const paused = progressOf(migrationPlan(), { ...RUNNING, pause, wait });
  expect(linesOf(stateOf([{ ...moving, state: paused.state, progress: paused }])).join('\n')).toContain('paused 13h');
});

test('the page of a migration shows when the companies that can be moved will be done, and whether there are others', () => {
  const end = (some: Parameters<typeof counts>[0]) =>
    companyLines(
      {
        progress: progressOf(migrationPlan(), { ...RUNNING, counts: counts({ total: 1203, ...some }) }),
        overview: overview(703, 410, { waiting: 500, unconfirmed: some.unconfirmed ?? 0 }),
      },
      NOW,
    )[0]
      ?.map(textOf)
      .join('');
  expect(end({ moved: 703, waiting: 500 })).toMatch(/ 703 of 1,203 companies moved, 41 a minute, ends about 22:17$/);
  expect(end({ moved: 703, waiting: 500, unconfirmed: 90 })).toMatch(/, 41 a minute, 410 more by 22:15$/);
});

test('the list and the page show the same end and the same rate, which follow from the ledger, not from older counts', () => {
  // The workflow last counted the companies when 700 were left. According to the ledger, 300 have moved since.
  const older = progressOf(migrationPlan(), {
    ...RUNNING,
    counts: counts({ total: 1203, moved: 503, waiting: 700 }),
    throughput: { moved: 10, withinMs: 600_000 },
  });
  const live = overview(803, 410, { waiting: 400 });
  const line = linesOf(stateOf([{ ...moving, overview: live, progress: older }]))[3];
  expect(line).toMatch(/803\/1203 +41 +22:14 +12$/);
  const [page] = companyLines({ progress: older, overview: live }, NOW).map((each) => each.map(textOf).join(''));
  expect(page).toMatch(/41 a minute, ends about 22:14$/);
});

test('the list says for the selected migration when its window closes before the end', () => {
  const windows = [{ days: ['mon', 'wed'] as const, from: '22:00', to: '22:10', timeZone: 'UTC' }];
  const closing = progressOf(migrationPlan(), { ...RUNNING, limits: { ...RUNNING.limits, windows } });
  const sentenceOf = (of: typeof closing) => linesOf(stateOf([{ ...moving, progress: of }])).join(' ');
  expect(sentenceOf(closing)).toContain('moving.wave: the window closes 22:10, and moves continue Wed 22:00; ');
  expect(sentenceOf(progressOf(migrationPlan(), RUNNING))).not.toContain('the window closes');
});

test('no rate is shown from the first company, or before the companies after it move', () => {
  const first = overview(1, 1, { waiting: 1202 });
  const measured = (progress: ReturnType<typeof progressOf>, ledger: Overview) => [
    companyLines({ progress, overview: ledger }, NOW)[0]?.map(textOf).join(''),
    linesOf(stateOf([{ ...moving, step: progress.step, overview: ledger, progress }]))[3]?.slice(-20),
  ];
  const [page, list] = measured(progressOf(migrationPlan(), { ...RUNNING, estimate: ESTIMATE }), first);
  expect(page).not.toMatch(/a minute/);
  expect(list).not.toMatch(/0\.1/);
  const verifying = progressOf(migrationPlan(), stateAt('migrate-first-company'));
  const [inStep5] = measured({ ...verifying, state: 'running' }, overview(5, 5, { waiting: 20 }));
  expect(inStep5).not.toMatch(/a minute/);
});

test('the line of step 4 names the people who have confirmed that syncing is off', () => {
  const line = (confirmers: typeof CONFIRMERS | null) =>
    stepLines(progress, confirmers, 120, NOW)[3]?.map(textOf).join('').trimEnd();
  expect(line(CONFIRMERS)).toMatch(/4 Disable data syncing +done.* Cleo \(client\), Clara \(client\) and 1 more$/);
  expect(line(null)).not.toContain('Cleo');
});

test('a waiting migration shows neither a rate nor an estimate that has passed', () => {
  const passed = row('passed.wave', {
    overview: overview(1, 10),
    progress: progressOf(migrationPlan(), {
      ...stateAt('update-application', { estimate: ESTIMATE }),
      proposal: { startAt: '2026-03-02T20:00:00.000Z', role: 'support', by: 'Sam', at: AT },
    }),
  });
  expect(linesOf(stateOf([passed]))[3]).toMatch(/1\/1203 +12$/);
});

test.each([
  [76, 16],
  [80, 24],
  [200, 60],
])('the screen fits %i columns and %i lines with names of any length and script', (columns, rows) => {
  const names = ['x'.repeat(150), '会社'.repeat(30), 'e\u0301'.repeat(40), '\u001b[31mred', 'short'];
  const state = stateOf(
    names.map((name) =>
      row(name, { progress: { ...progress, waitingFor: { roles: [], what: `${name} `.repeat(20) } } }),
    ),
    { connectionError: 'cannot read from Temporal' },
  );
  const lines = frameOf(state, { columns, rows }, NOW);
  expect(lines).toHaveLength(rows);
  const widths = lines.map((line) => widthOf(line.map(textOf).join('')));
  expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
});

test('a terminal that is too small says so completely, and how to quit', () => {
  const lines = frameOf(stateOf([moving]), { columns: 40, rows: 10 }, NOW).map((line) => line.map(textOf).join(''));
  expect(lines.join(' ')).toBe('The dashboard needs at least 76 columns and 16 lines. Press q to quit.');
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(40);
});

test('a connection error is shown with the time of the data until the data has been read again', () => {
  const stale = withReading(stateOf([moving]), {
    connectionError: 'cannot read from Temporal',
    at: NOW.getTime() + 60_000,
  });
  expect(linesOf(stale)[1]).toMatch(/^last read at \d\d:04:11; cannot read from Temporal; retrying automatically$/);
  expect(linesOf(stale)[3]).toContain('moving.wave');
  const recovered = withReading(stale, { rows: [moving], connectionError: null, at: NOW.getTime() + 61_000 });
  expect(linesOf(recovered)[1]).toBe('');
});

test('the selection follows its migration when the order changes, and no other is selected when the migration ends', () => {
  const state = afterKeys(stateOf([row('a.wave'), row('b.wave'), row('c.wave')]), 'down');
  expect(state.selected).toBe('b.wave');
  const reordered = withReading(state, {
    rows: [row('a.wave'), row('b.wave'), row('c.wave', { waitingFor: 'support' })],
    connectionError: null,
    at: 0,
  });
  expect(reordered.selected).toBe('b.wave');
  const ended = withReading(reordered, { rows: [row('a.wave')], connectionError: null, at: 0 });
  expect(ended.selected).toBeNull();
  for (const key of ['a', 'x', 'p', 'r']) expect(handleKey(ended, key, HEIGHT).action).toBeUndefined();
  expect(withReading(ended, { rows: [row('a.wave')], connectionError: null, at: 0 }).selected).toBeNull();
  expect(afterKeys(ended, 'down').selected).toBe('a.wave');
  // The first migration that opens in an empty list is selected.
  const empty = withReading(ended, { rows: [], connectionError: null, at: 0 });
  expect(withReading(empty, { rows: [row('d.wave')], connectionError: null, at: 0 }).selected).toBe('d.wave');
});

test('in a list of 300 migrations, the selected migration is always visible', () => {
  const many = stateOf(Array.from({ length: 300 }, (_, index) => row(`m${String(index).padStart(3, '0')}.wave`)));
  for (const keys of [['end'], ['pagedown', 'pagedown'], ['end', 'up', 'pageup'], ['end', 'home']]) {
    const state = afterKeys(many, ...keys);
    expect(linesOf(state).some((line) => line.startsWith(`▸ ${state.selected}`))).toBe(true);
  }
});

test('keys request decisions on the selected migration, and p resumes a paused migration', () => {
  const state = stateOf([row('p.wave', { state: 'paused', waitingFor: 'support' })]);
  expect(handleKey(state, 'p', HEIGHT).action).toEqual({ kind: 'resume', migrationId: 'p.wave' });
  expect(handleKey(state, 'a', HEIGHT).action).toEqual({ kind: 'approve', migrationId: 'p.wave' });
  expect(handleKey(stateOf([]), 'a', HEIGHT).action).toBeUndefined();
  expect(handleKey(state, 'ctrl-c', HEIGHT).action).toBe('quit');
});

test('help covers the screen until any key is pressed, and a result with its time disappears at the next key', () => {
  const lastResult = { outcome: 'refused', text: 'too late', at: NOW.getTime() } as const;
  expect(linesOf({ ...stateOf([moving]), lastResult }).join('\n')).toMatch(/\n\d\d:04:11 ✗ refused: too late\n/);
  const help = afterKeys({ ...stateOf([moving]), lastResult }, '?');
  expect(linesOf(help).filter((line) => widthOf(line) > SIZE.columns)).toEqual([]);
  expect(linesOf(help).join('\n')).toContain('approve the open step');
  expect(linesOf(afterKeys(help, 'a')).join('\n')).not.toContain('too late');
});

test('a decision that was applied to some of its companies is not shown as a success', () => {
  const outcome = companiesOutcomeText('2 companies will be retried', 1, 2);
  const lastResult = { outcome: 'partial', text: outcome, at: NOW.getTime() } as const;
  expect(linesOf({ ...stateOf([]), lastResult }).join('\n')).toContain(
    '✗ 1 company will be retried; applied to 1 of 2',
  );
  const decision = { kind: 'retry', companies: ['C-1', 'C-2'], decisionId: '1', role: 'support', by: 'Sam' } as const;
  const entry = { decision, outcome: { decisionId: '1', applied: true, text: outcome, at: AT } };
  const detail = {
    ...{
      progress: progressOf(migrationPlan(), stateAt('complete-migration')),
      overview: null,
      confirmers: CONFIRMERS,
      outages: [],
    },
    ...{ exceptions: [], decisions: [entry] },
  } as unknown as MigrationDetail;
  const page = { ...stateOf([row('acme.xero')]), isOpen: true, selected: 'acme.xero', detail };
  expect(linesOf(page).join('\n')).toMatch(/✗ .*retry C-1, C-2: 1 company will be retried/);
});

test('companies that were not moved or left out do not count as moved, in the list and on the page', () => {
  const some = counts({ total: 10, moved: 6, failed: 3, mustReconnect: 2, excluded: 1 });
  const finished = progressOf(migrationPlan(), { ...RUNNING, counts: some });
  const text = companyLines({ progress: finished, overview: null }, NOW)
    .map((line) => line.map(textOf).join(''))
    .join('\n');
  expect(text).toMatch(/^█{12}░{8} 6 of 10 companies moved\n/);
  expect(text).toContain('2 must reconnect, 1 not moved, 1 left out');
  const { done, failed } = { done: 10, failed: 3 };
  const listed = row('acme.xero', { total: 10, done, failed, overview: { ...overview(6, 0), total: 10 } });
  expect(linesOf(stateOf([listed])).find((line) => line.includes('acme.xero'))).toContain(' 6/10 ');
});

test('the list and the page say how many moved companies depend on a replaced application, even with many exceptions', () => {
  const replaced = progressOf(migrationPlan(), {
    ...RUNNING,
    ...{ counts: counts({ total: 9, moved: 5, failed: 4, mustReconnect: 2 }), replacedApplication: 3 },
  });
  const detail = {
    progress: replaced,
    overview: null,
    confirmers: CONFIRMERS,
    outages: [],
    exceptions: [],
    decisions: [],
  };
  const list = stateOf([row('acme.xero', { progress: replaced })]);
  expect(linesOf(list).join('\n')).toContain(
    'acme.xero: 3 companies with a replaced application; support and client: sign off',
  );
  expect(linesOf({ ...list, isOpen: true, detail }).join('\n')).toMatch(
    /0 left out\n3 companies with a replaced application/,
  );
});

test('an empty list shows how to start a migration', () => {
  expect(linesOf(stateOf([])).join('\n')).toContain('No migration is open. To start a migration, run: ferry start');
});

test('with long names, reasons and numbers, no line is wider than a screen of 80 columns', () => {
  const long = 'northwind-traders-international.quickbooks-online.second-half-of-2026';
  const reason = 'our office is flooded, and nobody can answer the questions of end customers until Monday';
  const counted = counts({
    ...{ total: 12_030, moved: 7_030, waiting: 4_500, importing: 120, syncing: 240, failed: 1_234, mustReconnect: 900 },
    ...{ skipped: 60, excluded: 70, outcomeUnknown: 30, heldBack: 44, unconfirmed: 1_000, withoutCredential: 300 },
  });
  const state = stateAt('complete-migration', { counts: counted });
  const exception = (number: number): LedgerCompany =>
    ({
      ...{ row: number, reference: `NORTHWIND-C-10000${number}`, name: `${long} Holdings (Deutschland) GmbH` },
      ...{ failure: 'sync-failed', state: 'failed', heldBack: null, correlationId: '0af1', deferred: false },
      failureText: `a data set could not be synced (${reason})`,
    }) as unknown as LedgerCompany;
  const detail = {
    ...{ progress: progressOf(migrationPlan(), state), overview: { ...overview(11_900, 41_000), total: 12_030 } },
    confirmers: CONFIRMERS,
    ...{ outages: [`estimate the duration: ${reason}`], exceptions: [exception(1), exception(2)], decisions: [] },
  };
  const list = stateOf([row(long, { waitingFor: 'support', progress: detail.progress })], {
    connectionError: `cannot reach Temporal: ${reason}`,
  });
  const page = { ...list, isOpen: true, selected: long, selectedException: 1, detail };
  const lines = [list, page].flatMap((each) => linesOf(each));
  expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  for (const label of ['130 left out', '300 without a usable credential', 'retrying automatically', 'Waiting for  '])
    expect(lines.join(' ')).toContain(label);
  expect(lines).toContainEqual(expect.stringMatching(/^▸ NORTHWIND.*: a data set could not be synced$/));
});
