import { printFirstOpening } from '../../../cli/options/start-times';
import { Output } from '../../../cli/terminal/output';
import type { Window } from '../../../domain/planning/windows';
import { firstOpening } from '../../../domain/progress/first-opening';
import { forecastOf } from '../../../domain/progress/forecast';
import { progressOf } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { actionsOf } from '../../../presentation/portal/actions';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import {
  AT,
  counts,
  decideAll,
  firstCompany,
  migrationPlan,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';
import { shownMigration } from '../reporting/shown-migration';

const NIGHTS: Window = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '05:00', timeZone: 'UTC' };
const MONDAY = { opensAt: '2026-12-07T22:00:00.000Z', closesAt: '2026-12-08T05:00:00.000Z' };
const EARLIER = '2026-12-01T09:00:00.000Z';
const SIX_MINUTES = {
  ...estimate({
    volume: {
      ...{ companies: 10, records: 0, companiesWithoutVolume: 0, largestCompany: 0, largestFamily: 0 },
      staleSince: null,
    },
    limits: DEFAULT_LIMITS,
    speedEstimate: ASSUMED_SPEED,
    from: AT,
  }),
  ...{ lowMs: 60_000, highMs: 360_000 },
};

const starting = (startAt: string | null, changes: Partial<MigrationState> = {}, windows = [NIGHTS]) => {
  const state = stateAt('schedule', { counts: counts({ total: 10, waiting: 10, unconfirmed: 10 }) });
  const proposal = startAt === null ? null : { startAt, role: 'support' as const, by: 'Sam', at: AT };
  return progressOf(migrationPlan(), { ...state, proposal, limits: { ...state.limits, windows }, ...changes });
};

function printed(progress: ReturnType<typeof starting>, now = EARLIER): string {
  const stdout = capturedStream();
  printFirstOpening(new Output({ stdout, stderr: stdout, env: {} } as never, false, false), progress, now);
  return stdout.text;
}

test('a start outside the windows is shown with the next opening, and with how long data will be out of date', () => {
  const saturday = starting('2026-12-05T22:00:00.000Z', { estimate: SIX_MINUTES });
  expect(firstOpening(saturday, EARLIER)).toEqual(MONDAY);
  expect(printed(saturday)).toBe(
    '  ! the start is outside the windows; the next window opens Mon 7 Dec 2026, 22:00 UTC\n' +
      '    data is out of date for up to 48.1 hours after the start; for longer if the client confirms earlier that syncing is off\n',
  );
  expect(printed(starting('2026-12-05T22:00:00.000Z'))).toContain('out of date for at least 48 h for each company');
});

const CONFIRMED_EARLIER = { ...SIX_MINUTES, volume: { ...SIX_MINUTES.volume, staleSince: EARLIER } };

test('the figure counts from the start if the only confirmed company was left out after the estimate', () => {
  const progress = starting('2026-12-05T22:00:00.000Z', { estimate: CONFIRMED_EARLIER });
  expect(printed(progress)).toContain('    data is out of date for up to 48.1 hours after the start; ');
});

test('the figure counts from an earlier confirmation if a held-back company can be the confirmed one', () => {
  const heldBack = counts({ total: 10, waiting: 10, unconfirmed: 9, heldBack: 1 });
  const progress = starting('2026-12-05T22:00:00.000Z', { estimate: CONFIRMED_EARLIER, counts: heldBack });
  expect(printed(progress)).toContain('    data will be out of date for up to 157');
});

test('the figure counts from what the ledger says now, like the expected end', () => {
  const progress = starting('2026-12-05T22:00:00.000Z', { estimate: CONFIRMED_EARLIER });
  const live = { counts: counts({ total: 10, waiting: 10, unconfirmed: 9 }), moved: 0, withinMs: 0 };
  const shown = shownMigration(progress, { live }, { now: new Date(EARLIER) });
  expect(shown).toContain('    data will be out of date for up to 157');
  expect(shown).not.toContain('after the start');
});

test('the page of the client shows the same window and the same figure', () => {
  const saturday = starting('2026-12-05T22:00:00.000Z', { estimate: SIX_MINUTES });
  const page = currentDetails(saturday, { now: EARLIER });
  expect(page).toContain(
    '# Please approve the start at 2026-12-05 22:00 UTC; moves begin at 2026-12-07 22:00 UTC, when a window opens.',
  );
  expect(page).toContain('**The start is outside the windows:** no move begins before 2026-12-07 22:00 UTC');
  expect(page).toContain('**Windows:** moves begin only mon-fri 22:00-05:00 UTC');
  expect(page.match(/moved, up to 48\.1 hours after the start\./g)).toHaveLength(2);
  expect(page).not.toContain('minutes.');
  expect(forecastOf(saturday, null, EARLIER)?.staleMs).toBe(48 * 3_600_000 + 360_000);
});

const SATURDAY = '2026-12-05T22:00:00.000Z';
const TWO_WEEKS_LATER = '2026-12-19T22:00:00.000Z';
const OF_LATER_START = { earliest: '2026-12-21T22:02:00.000Z', latest: '2026-12-21T22:06:00.000Z' };
const proposed = (state: MigrationState) => decideAll(state, proposeTime('client', SATURDAY));
const adjusted = (state: MigrationState) =>
  decideAll(state, { kind: 'adjust', role: 'support', limits: { windows: [NIGHTS] } });
const withFewer = (state: MigrationState) => ({
  ...state,
  counts: counts({ total: 10, waiting: 5, excluded: 5, unconfirmed: 5 }),
});

test.each([
  ['an earlier start', 'schedule', TWO_WEEKS_LATER, proposed],
  ['an earlier start in a later step', 'disable-syncing', TWO_WEEKS_LATER, proposed],
  ['other windows', 'disable-syncing', SATURDAY, adjusted],
  ['fewer companies', 'disable-syncing', SATURDAY, withFewer],
] as const)('after a change to %s, the figure does not come from the previous estimate', (_, step, startAt, change) => {
  const state = stateAt(step, { counts: counts({ total: 10, waiting: 10, unconfirmed: 10 }) });
  const after = change({
    ...state,
    estimate: { ...SIX_MINUTES, ends: OF_LATER_START },
    limits: { ...state.limits, windows: [NIGHTS] },
    proposal: { startAt, role: 'support', by: 'Sam', at: AT },
  });
  expect(printed(progressOf(migrationPlan(), after))).toContain(
    'data is out of date for up to 48.1 hours after the start; for longer if',
  );
});

test('a start inside a window is shown with the end of this window', () => {
  const start = starting('2026-12-07T23:00:00.000Z', { estimate: SIX_MINUTES });
  expect(firstOpening(start, EARLIER)).toEqual(MONDAY);
  expect(printed(start)).toBe('  moves can begin until Tue 8 Dec 2026, 05:00 UTC, when the window closes\n');
});

test('a start that is more than 90 days away is shown with a warning that names the days, in every view', () => {
  const inAYear = starting('2027-12-01T09:30:00.000Z', {}, []);
  const warning = 'the start is 365 days away: check that the date is right';
  expect(printed(inAYear)).toBe(`  ! ${warning}\n`);
  expect(currentDetails(inAYear, { now: EARLIER })).toContain(`**Warning:** ${warning}`);
  const facts = {
    canSeal: true,
    isRotating: true,
    unconfirmedFirst: null,
    applications: null,
    changedSinceSignOff: [],
  };
  const approval = actionsOf(inAYear, facts, EARLIER).find(({ message }) => message === 'approve');
  expect(approval?.facts).toContain(`Warning: ${warning}`);
  expect(printed(starting('2027-03-01T09:00:00.000Z', {}, []))).toBe('');
  expect(printed(starting('2027-12-01T09:30:00.000Z', { firstCompany: firstCompany() }, []))).toBe('');
});

test('a start that has passed is replaced by the current time', () => {
  const now = '2026-12-06T12:00:00.000Z';
  const late = starting('2026-12-04T23:00:00.000Z', { estimate: SIX_MINUTES });
  expect(printed(late, now)).toBe(
    '  ! the start has passed, and no window is open; the next window opens Mon 7 Dec 2026, 22:00 UTC\n' +
      '    data will be out of date for at least 34 h for each company for which the client confirms now that syncing is off\n',
  );
  const confirmed = { ...late, counts: { ...late.counts, unconfirmed: 4 } };
  expect(printed(confirmed, now)).toMatch(
    /data is out of date .* for each company for which the client has already confirmed that syncing is off/,
  );
  expect(printed(late, '2026-12-07T22:30:00.000Z')).toContain('when the window closes');
});

test.each([
  ['no start', starting(null)],
  ['no windows', starting('2026-12-05T22:00:00.000Z', {}, [])],
  ['a first company that has moved', starting('2026-12-05T22:00:00.000Z', { firstCompany: firstCompany() })],
])('nothing is shown with %s', (_, progress) => {
  expect(firstOpening(progress, EARLIER)).toBeNull();
  expect(printed(progress)).toBe('');
});

test('a window that is always open has no closing time and sets no deadline', () => {
  const always: Window = {
    ...{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '00:00' },
    timeZone: 'Europe/Berlin',
  };
  const progress = starting(EARLIER, {}, [always]);
  expect(firstOpening(progress, EARLIER)).toBeNull();
  expect(printed(progress)).toBe('');
  const complete = stateAt('complete-migration', {
    counts: counts({ total: 3, waiting: 3 }),
    window: MONDAY,
    limits: { ...DEFAULT_LIMITS, windows: [always] },
  });
  expect(waitingForOf(complete).what).toBe('the remaining companies are being moved');
});
