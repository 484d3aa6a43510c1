/**
 * Tests that the output of `ferry show` fits a terminal of 80x24. Also tests its lines about companies and the expected
 * end.
 */
import type { Confirmers } from '../../../store';
import { companyLines } from '../../../cli/dashboard/migration-lines';
import { countsText } from '../../../cli/portal/summary';
import type { Deferred } from '../../../cli/reporting/migration-summary';
import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import { textOf, widthOf } from '../../../cli/terminal/styled-text';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { WEEKDAYS, type Window } from '../../../domain/planning/windows';
import { progressOf } from '../../../domain/progress/progress';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import {
  AT,
  approve,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';
import { OTHER_CLIENTS_APPLICATION } from './other-clients-application';
import { inTimeZone } from '../time-zone';
import { shownMigration } from './shown-migration';

const plan = migrationPlan({ migrationId: 'acme.quickbooks-online' });
const NOW = new Date(LATER);
const volume = {
  companies: 60,
  records: 12_000,
  companiesWithoutVolume: 0,
  largestCompany: 900,
  largestFamily: 1,
  staleSince: null,
};
const estimated = {
  estimate: estimate({ volume, limits: DEFAULT_LIMITS, speedEstimate: ASSUMED_SPEED, from: LATER }),
};
const details = preflight({
  warnings: ['13 names will be stored without some letters'],
  application: { clientId: 'acme-app', environment: 'production', suppliedBy: 'Cleo' },
});
const some = counts({ total: 60, moved: 43, importing: 3, waiting: 4, failed: 10, mustReconnect: 3 });
const checks = Array.from({ length: 11 }, () => ({
  ...({ code: 'authorized', label: 'authorized', passed: true, detail: 'yes' } as const),
  correlationId: '2b1b2d5e-5d0c-4f43-9d53-3d1d0d3f2a10',
}));
const first = { firstCompany: firstCompany({ evidence: checks }) };
const known = { preflight: details, ...estimated };

const FACTS = {
  waves: [],
  hasReconnectLink: false,
  migrationKey: null,
  unconfirmedFirst: null,
  unknownFirst: null,
  confirmers: null,
  isRotating: true,
  isLedgerBehind: false,
  applications: null,
  changedSinceSignOff: [],
};

const NIGHTS: Window = { days: WEEKDAYS, from: '20:00', to: '06:00', timeZone: 'Europe/London' };

const atNight = { ...known, ...first, limits: { ...DEFAULT_LIMITS, windows: [NIGHTS] } };

const SITUATIONS: readonly (readonly [string, MigrationState])[] = [
  ["another client's application", OTHER_CLIENTS_APPLICATION],
  ['step 1', stateAt('supply-details', { ...known, counts: counts({ total: 60, waiting: 60, unconfirmed: 60 }) })],
  ['step 2', stateAt('schedule', known)],
  [
    'step 2, with a time',
    decideAll(stateAt('schedule', known), proposeTime('support'), approve('schedule', 'support')),
  ],
  ['step 3', stateAt('update-application', known)],
  ['step 4', stateAt('disable-syncing', { ...known, counts: counts({ total: 60, waiting: 60, unconfirmed: 60 }) })],
  ['step 5', stateAt('migrate-first-company', { ...known, ...first })],
  ['step 6', stateAt('complete-migration', { ...known, ...first, counts: some })],
  [
    'step 6, with a rate',
    stateAt('complete-migration', {
      ...{ ...known, ...first, counts: { ...some, unconfirmed: 2 } },
      throughput: { moved: 41, withinMs: 60_000 },
    }),
  ],
  ['step 6, with windows', stateAt('complete-migration', { ...atNight, counts: some })],
  [
    'step 6, between windows',
    stateAt('complete-migration', { ...atNight, counts: { ...some, importing: 0, waiting: 7 } }),
  ],
  [
    'a handover to sign off',
    stateAt('complete-migration', { ...known, ...first, counts: { ...some, moved: 50, importing: 0, waiting: 0 } }),
  ],
  ['a completed migration', stateAt('complete-migration', { ...known, ...first, counts: some, closed: 'completed' })],
];

function shown(
  state: MigrationState,
  columns: number,
  inFull = false,
  confirmedBy: Confirmers | null = null,
  deferred: Deferred | null = null,
  more: { readonly windowsPaused?: string; readonly isBatchRunning?: boolean; readonly now?: Date } = {},
): readonly string[] {
  const { now = NOW, ...found } = more;
  const progress = progressOf(plan, state);
  const findings = {
    ...{ deferred, limits: state.limits, confirmedBy, ...found },
    keyFingerprint: 'ab12-cd34-ef56-0718-293a-4b5c-6d7e-8f90',
    clientPage: `http://127.0.0.1:8235/m/${progress.migrationId}`,
    next: nextCommands(progress, { ...NO_COMPANIES, unconfirmedWave: 2 }, NOW),
  };
  return shownMigration(progress, findings, { columns, inFull, now }).trimEnd().split('\n');
}

const IN_ZONES = ['UTC', 'America/New_York'].flatMap((zone) => SITUATIONS.map((each) => [zone, ...each] as const));

test.each(IN_ZONES)('in %s, a migration fits a terminal of 80x24, with the link for the client: %s', (zone, _, state) =>
  inTimeZone(zone, () => {
    const lines = shown(state, 80);
    const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / 80)), 0);
    // The shell's prompt needs one row.
    expect(rows > 23 ? lines : []).toEqual([]);
  }),
);

test('the limits in effect are shown on one line until every company has a final outcome', () => {
  const limits = { ...DEFAULT_LIMITS, companiesPerMinute: 6, toleratedFailures: 50 };
  expect(shown({ ...situation('step 6'), limits }, 200)).toContain(
    'Limits: companies per minute 6, slices at once 4 (8 each, plus syncing), ramp 20, tolerated failures 50, tolerated share 20%',
  );
  expect(shown(situation('a handover to sign off'), 80).join('\n')).not.toContain('Limits:');
});

test('if the Schedule is paused, show does not promise moves that nobody begins, and says how long moves continue', () => {
  const window = { opensAt: '2026-03-02T20:00:00.000Z', closesAt: '2026-03-03T06:00:00.000Z' };
  const state = { ...situation('step 6, with windows'), counts: { ...some, importing: 0, syncing: 0 }, window };
  const at = (time: string, isBatchRunning: boolean): string => {
    const more = { windowsPaused: 'platform trouble, Sam', isBatchRunning, now: new Date(time) };
    return shown(state, 300, false, null, null, more).join('\n');
  };
  const open = at('2026-03-02T21:00:00.000Z', true);
  expect(open).toContain('The remaining companies are being moved, in the window');
  expect(open).toMatch(/Moves can begin until the open window closes at .*After that, no window opens \(platform/);
  for (const closed of [at('2026-03-02T21:00:00.000Z', false), at('2026-03-02T12:00:00.000Z', false)]) {
    expect(closed).not.toMatch(/are moved in the window|are being moved/);
    expect(closed).toContain('No window opens now (platform trouble, Sam). To open windows again: ferry schedule');
  }
  const moving = { ...state, counts: { ...some, importing: 3 } };
  const more = {
    windowsPaused: 'platform trouble, Sam',
    isBatchRunning: true,
    now: new Date('2026-03-02T12:00:00.000Z'),
  };
  expect(shown(moving, 300, false, null, null, more).join('\n')).toContain(
    '\nMoves that have begun continue\nNo window opens now (platform trouble, Sam). To open windows again: ferry schedule',
  );
});

test('a cancelled migration says who cancelled it, when and why', () => {
  const endedBy = { by: 'Sam', role: 'support', reason: 'the client withdraws', at: AT } as const;
  const cancelled = { ...situation('step 6'), closed: 'cancelled', endedBy } as const;
  expect(shown(cancelled, 200)).toContain('Cancelled by Sam (support) at 2026-03-02 09:00 UTC: the client withdraws');
});

test('sentences are broken between words', () => {
  const pause = { reason: 'checking C-1014', by: 'Sam', stopReason: null, at: AT };
  const lines = shown(stateAt('complete-migration', { ...known, pause }), 80);
  const waiting = lines.findIndex((line) => line.startsWith('Waiting for client or support: resume'));
  expect(lines[waiting]?.length).toBeLessThanOrEqual(80);
  expect(lines.slice(waiting, waiting + 2).join(' ')).toBe(
    'Waiting for client or support: resume the migration once the pause is no longer needed',
  );
});

test('approvals are shown if they fit on the line of their step', () => {
  const state = stateAt('disable-syncing', known);
  expect(shown(state, 80).join('\n')).not.toContain('confirmed by');
  expect(shown(state, 200).join('\n')).toMatch(/2 {2}Schedule the migration .* Cleo \(client\), Sam \(support\)$/m);
});

test('step 4 shows who has confirmed that syncing is off, because it ends without approvals', () => {
  const state = stateAt('migrate-first-company', known);
  const step4 = (of: MigrationState, people: number, ...names: string[]) =>
    shown(of, 200, false, { people, names }).find((line) => line.includes('Disable data syncing'));
  expect(step4(state, 1, 'Cleo')).toMatch(/ Cleo \(client\)$/);
  expect(step4(state, 5, 'Cleo', 'Dana', 'Ed')).toMatch(/ Cleo \(client\), Dana \(client\) and 3 more$/);
  // Confirmations of some companies do not end the step.
  expect(step4(stateAt('disable-syncing', known), 1, 'Cleo')).not.toContain('Cleo');
});

test('the windows are shown in their time zone until every company has a final outcome', () => {
  expect(shown(situation('step 6, with windows'), 80)).toContain('Windows: daily 20:00-06:00 Europe/London');
  const limits = { ...DEFAULT_LIMITS, windows: [NIGHTS] };
  const handover = { ...situation('a handover to sign off'), limits };
  expect(shown(handover, 80).join('\n')).not.toContain('Windows:');
  const windows = [NIGHTS, NIGHTS, NIGHTS, NIGHTS];
  const many = stateAt('complete-migration', { ...known, ...first, counts: some, limits: { ...limits, windows } });
  expect(shown(many, 200).join('\n')).toMatch(/^Windows: daily .* and 1 more$/m);
});

const situation = (name: string): MigrationState =>
  SITUATIONS.find(([each]) => each === name)?.[1] ?? stateAt('schedule');

test('companies that need a decision are on a line with the command that lists them', () => {
  const lines = shown(situation('step 6'), 80);
  expect(lines).toContain('Companies: 43 of 60 moved, 3 moving, 4 not moved yet');
  expect(lines).toContain('  3 must reconnect, 7 not moved: ferry exceptions acme.quickbooks-online');
  expect(shown(situation('a completed migration'), 80)).toContain(
    '  3 must reconnect, 11 not moved: ferry report acme.quickbooks-online',
  );
});

test('no view says that companies of a migration that has ended are moving', () => {
  const ended = stateAt('complete-migration', {
    closed: 'cancelled',
    counts: counts({ total: 11, moved: 8, syncing: 1, waiting: 1, heldBack: 1, outcomeUnknown: 1 }),
  });
  expect(shown(ended, 80)).toEqual(
    expect.arrayContaining([
      'Companies: 8 of 11 moved, 1 still being checked',
      '  2 not moved (1 of them with an unknown outcome):',
      '  ferry report acme.quickbooks-online',
    ]),
  );
  const progress = progressOf(migrationPlan(), ended);
  const block = companyLines({ progress, overview: null }, new Date(AT)).map((line) => line.map(textOf).join(''));
  expect(block.join('\n')).toMatch(/1 still being checked, .*2 not moved,/);
  expect(currentDetails(progress, { now: AT })).toContain('- still being checked: 1');
  expect(countsText(migrationView(progress, FACTS, AT))).toBe('8 of 11 moved, 1 still being checked, 2 not moved');
});

test('the rate and the expected end replace the estimate once companies are being moved', () => {
  expect(shown(situation('step 6, with a rate'), 80).join('\n')).toMatch(
    /^Rate: 41 a minute, the next 5 moves end about /m,
  );
  expect(shown(situation('step 4'), 80).join('\n')).toMatch(/^Estimate: .* for 60 companies \(not measured yet\)$/m);
  expect(shown(situation('a completed migration'), 80).join('\n')).not.toMatch(/Rate|Estimate|Start/);
});

test('the estimate is for the companies that are left according to the ledger, as is the expected end', () => {
  const progress = progressOf(plan, situation('step 6'));
  const live = { counts: { ...some, moved: 46, importing: 1, waiting: 3 }, moved: 0, withinMs: 0 };
  expect(shownMigration(progress, { live }, { now: NOW })).toMatch(
    /^Estimate: .* for 4 companies \(not measured yet\)$/m,
  );
});

test('while no company is confirmed, the time without current data is counted from a start in the future', () => {
  const startAt = '2026-03-09T20:00:00.000Z';
  const state = { ...situation('step 4'), proposal: { startAt, role: 'support', by: 'Sam', at: AT } } as const;
  expect(shown(state, 200).join('\n')).toMatch(/^ {2}ends .+, up to \d+ minutes after the start$/m);
  const confirmed = { ...state, counts: counts({ total: 60, waiting: 60, unconfirmed: 59 }) };
  expect(shown(confirmed, 200).join('\n')).toMatch(/, data out of date for up to [\d.]+ hours$/m);
});

test('--evidence lists the checks of the first company and the warnings that were accepted', () => {
  const state = situation('step 6');
  expect(shown(state, 80).join('\n')).toContain(
    'First company acme-1: approved, all 11 checks passed (--evidence lists',
  );
  const full = shown(state, 200, true).join('\n');
  expect(full.match(/✓ authorized/g)).toHaveLength(11);
  expect(full).toContain('! 13 names will be stored without some letters');
});

test('an ended migration shows no warning, pause, start or deferred company, because nobody can act on it', () => {
  const found = preflight({
    problems: ['1 company has no name'],
    warnings: ['13 names will be stored without some letters'],
    application: { clientId: 'acme-app', environment: 'production', suppliedBy: 'Cleo' },
    callbackUrl: 'https://service.example/callback',
  });
  const pause = { reason: 'audit', by: 'Sam', role: 'support', stopReason: null, at: AT } as const;
  const open = decideAll(stateAt('schedule', { ...known, preflight: found, counts: some }), proposeTime('support'));
  const paused = { ...open, pausesByPeople: [pause] };
  const deferred = { companies: 2, references: ['C-1', 'C-2'], nextTryAt: new Date(AT) };
  const textOfShow = (state: MigrationState, inFull = false) => shown(state, 200, inFull, null, deferred).join('\n');
  expect(textOfShow(paused)).toMatch(/Paused by Sam[^]+2 companies deferred[^]+no name[^]+Start: /);
  expect(textOfShow(paused)).toContain(
    '  To see why, and what you can do, run: ferry exceptions acme.quickbooks-online\n',
  );
  for (const closed of ['cancelled', 'completed'] as const) {
    const out = textOfShow({ ...paused, closed });
    expect(out).toContain(closed);
    expect(textOfShow({ ...paused, closed }, true)).toContain('13 names');
    expect(out).not.toMatch(/warning|no name|letters|acme-app|Callback URL|Paused|Start:|Estimate|deferred/i);
  }
});
