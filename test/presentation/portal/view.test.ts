/** Tests the view of a migration that the portal's page shows. */
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { WEEKDAYS, nextMove } from '../../../domain/planning/windows';
import { momentText } from '../../../domain/text/sentences';
import { CONFIRM_KEY, headlineFor } from '../../../portal/client/personal-texts';
import { noExceptionsText } from '../../../portal/client/remedies';
import { STEPS } from '../../../domain/migration/steps';
import { progressOf } from '../../../domain/progress/progress';
import { MigrationViewSchema } from '../../../portal/contract/migration-view';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import {
  AT,
  counts,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  stateAt,
} from '../../support/migrations/migration-states';

import { FACTS, viewOf } from './views';

test.each(STEPS)('the view in step %s has the shape of the contract', (step) => {
  const view = viewOf(stateAt(step));
  expect(MigrationViewSchema.parse(view)).toEqual(view);
  expect(view.steps.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('an application that was not supplied for this migration is not shown, because it can belong to another client', () => {
  const application = { clientId: 'app-1', environment: 'production' };
  const shown = (suppliedBy: string | null) => {
    const checked = { ...preflight(), application: { ...application, suppliedBy } };
    return viewOf(stateAt('supply-details', { preflight: checked })).application;
  };
  expect(shown('Cleo')).toMatchObject(application);
  expect(shown(null)).toBeNull();
});

test('companies whose application was replaced are named, and their data does not count as up to date', () => {
  const application = (clientId: string) => ({ clientId, environment: 'production' });
  const old = { application: application('old-app'), companies: 2, references: ['M-1', 'M-2'] };
  const applications = { moved: [old], replaced: [old], registered: application('new-app') };
  const state = stateAt('complete-migration', { counts: counts({ total: 3, moved: 3 }) });
  const view = viewOf(state, { applications });
  expect(view.notices).toEqual([
    expect.stringMatching(
      /^Warning: 2 companies \(M-1, M-2\) were .* register it again, or let their end customers reconnect with their links instead\. The list of .* has the links\.$/,
    ),
  ]);
  expect(view.outOfDate).toBe(
    'The data of all companies that were moved was brought up to date when they moved. The handover report says how often the service syncs each company. The data of 2 companies (M-1, M-2) goes out of date, because their applications were replaced: the service can no longer refresh their tokens.',
  );
  expect(view.hasReconnectLinks).toBe(true);
  const withoutLink = { ...applications, replaced: [{ ...old, withoutLink: 2 }] };
  expect(viewOf(state, { applications: withoutLink }).hasReconnectLinks).toBe(false);
  expect(viewOf(state, { applications: withoutLink, hasReconnectLink: true }).hasReconnectLinks).toBe(true);
  expect(viewOf(state)).toMatchObject({
    notices: [],
    outOfDate:
      'The data of all companies that were moved was brought up to date when they moved. The handover report says how often the service syncs each company.',
  });
});

test('companies that wait for another try are named, although they are not exceptions', () => {
  const windows = [{ days: ['sun'], from: '22:00', to: '23:00', timeZone: 'UTC' }] as const;
  const state = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 59, waiting: 1, retried: 1, firstRetried: ['M-047'] }),
  });
  const view = viewOf({ ...state, limits: { ...DEFAULT_LIMITS, windows } });
  const opensAt = nextMove(windows, LATER) ?? '';
  expect(view.notices).toContain(`1 company (M-047) will be tried again in the window from ${momentText(opensAt)}.`);
  expect(noExceptionsText(view)).toBe('No company needs attention now. 1 company is waiting to be tried again.');
  expect(viewOf({ ...state, closed: 'cancelled' }).notices.join()).not.toContain('tried again');
});

test('names no other client', () => {
  const view = viewOf(
    stateAt('supply-details', {
      preflight: preflight({
        problems: ['beta.quickbooks-online uses another application'],
        clientProblems: ['another client uses a different application'],
        problemCodes: ['application-of-another-migration'],
        warnings: ['beta.quickbooks-online is open'],
        clientWarnings: ['another migration is open'],
        application: { clientId: 'beta-app', environment: 'production', suppliedBy: null },
      }),
    }),
  );
  expect(JSON.stringify(view)).not.toContain('beta');
  expect(view.details.problems).toEqual(['another client uses a different application']);
});

test('a text that people wrote is shown on one line, without control characters', () => {
  const reason = 'line one\nline two \u202e<b>bold</b>';
  const state = stateAt('schedule', { pause: { reason, by: 'Sam', stopReason: null, at: AT } });
  const { notices, state: overall } = viewOf(state);
  expect(overall).toBe('paused');
  expect(notices[0]).toBe('Paused by Sam since 2026-03-02 09:00 UTC: line one line two <b>bold</b>');
});

test('a migration that has ended offers no decision and has no key, and says what remains to be done', () => {
  const view = viewOf(
    stateAt('complete-migration', { closed: 'cancelled', counts: counts({ total: 3, moved: 1, waiting: 2 }) }),
  );
  expect(view.task?.what).toMatch(/^Open the handover report/);
  expect(view.task?.why).toContain('for which companies you may switch syncing back on');
  expect(view.switchBackOn).toMatch(
    /^You may switch syncing back on for companies whose access was not handed over to us\./,
  );
  expect(viewOf(stateAt('complete-migration', { closed: 'completed' })).task?.what).toContain('handover report');
  expect(view).toMatchObject({ actions: [], start: null, next: null, migrationKey: null, state: 'cancelled' });
});

test('a problem or warning that stands for several companies says where the others are', () => {
  const found = { problems: ['C-1: no name; and 43 more companies like this'], problemCodes: ['name-empty'] as const };
  const state = stateAt('supply-details', {
    preflight: preflight({ ...found, warnings: ['C-9: odd; and 1,203 more companies like this'] }),
  });
  const { task, details } = viewOf(state);
  const problem = `C-1: no name; and 43 more companies like this; "Companies that need attention" lists all of them (or run: ferry --portal '<link>' exceptions acme.quickbooks-online)`;
  expect(task?.problems).toEqual([problem]);
  expect(details.problems).toEqual([problem]);
  expect(details.warnings).toEqual([
    'C-9: odd; and 1,203 more companies like this; look at the other rows of your manifest file',
  ]);
  expect(currentDetails(progressOf(migrationPlan(), state), { now: LATER })).toContain(
    'the portal lists all of them; without it, ask support',
  );
});

test.each([
  ['managed', 'organization-connected', '**What support has to do:** resolve these problems'],
  ['self-service', 'name-empty', '**What to do:** correct these details'],
] as const)(
  'readers with access to the ledger are told the command that lists all companies with a problem: %s',
  (route, code, task) => {
    const found = { problems: ['C-1: odd; and 43 more companies like this'], problemCodes: [code] };
    const state = stateAt('supply-details', { route, preflight: preflight(found) });
    const page = currentDetails(progressOf(migrationPlan({ route }), state), { now: LATER });
    expect(page).toContain(
      `${task}\n\n- C-1: odd; and 43 more companies like this; to list all of them, run: ferry exceptions acme.quickbooks-online\n`,
    );
  },
);

test('the problems and warnings of the details are shown only while someone can correct them', () => {
  const found = { preflight: preflight({ problems: ['no name'], warnings: ['13 names'] }) };
  expect(viewOf(stateAt('schedule', found)).details).toMatchObject({ problems: ['no name'], warnings: ['13 names'] });
  const ended = stateAt('schedule', { ...found, closed: 'cancelled' });
  expect(viewOf(ended).details).toMatchObject({ problems: [], warnings: [] });
});

test('a credential file has the fields of the platform', () => {
  expect(viewOf(stateAt('schedule')).credentialFields).toEqual([
    { name: 'accessToken', isRequired: true },
    { name: 'refreshToken', isRequired: true },
    { name: 'realmId', isRequired: true },
  ]);
});

test('does not change every second while companies are moving', () => {
  const state = stateAt('complete-migration', {
    counts: counts({ moved: 10, waiting: 50, importing: 2 }),
    firstCompany: firstCompany(),
  });
  const progress = { ...progressOf(migrationPlan(), state), throughput: { moved: 10, withinMs: 61_000 } };
  const at = (second: number) =>
    migrationView(progress, FACTS, new Date(Date.parse(LATER) + second * 1_000).toISOString());
  const views = Array.from({ length: 60 }, (_, second) => at(second));
  expect(views[0]?.end).not.toBeNull();
  expect(new Set(views.map((view) => JSON.stringify(view))).size).toBeLessThanOrEqual(3);
});

test('an end that leaves out companies which wait for the client says for how many companies it is', () => {
  const throughput = { moved: 20, withinMs: 600_000 };
  const endOf = (unconfirmed: number) =>
    viewOf(
      stateAt('complete-migration', { counts: counts({ total: 60, moved: 25, waiting: 35, unconfirmed }), throughput }),
    ).end;
  expect(endOf(30)).toMatchObject({
    companies: 5,
    basis: 'for 5 companies that are moving or can be moved, at the current rate',
  });
  expect(endOf(0)).toMatchObject({ companies: 35, basis: 'at the current rate' });
  const deferring = counts({ total: 60, moved: 25, waiting: 35, deferred: 30 });
  expect(viewOf(stateAt('complete-migration', { counts: deferring, throughput })).end).toMatchObject({
    basis: 'for 5 companies that are moving or can be moved, apart from deferred companies, at the current rate',
  });
});

test('an end after the close of the window says when the window closes and when moves continue', () => {
  // The window is open at LATER and closes a minute afterwards.
  const clock = (ms: number) => new Date(Date.parse(LATER) + ms).toISOString().slice(11, 16);
  const window = { days: WEEKDAYS, from: clock(-3_600_000), to: clock(60_000), timeZone: 'UTC' };
  const state = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 25, waiting: 35 }),
    throughput: { moved: 20, withinMs: 600_000 },
    limits: { ...DEFAULT_LIMITS, windows: [window] },
  });
  expect(viewOf(state).end?.basis).toMatch(
    /^at the current rate; the window closes \S+ \d\d:\d\d UTC, and moves continue \S+ \d\d:\d\d UTC$/,
  );

  // The windows were paused during the batch run, which continues until the window closes.
  const paused = { ...state, noFurtherWindow: true } as const;
  expect(viewOf(paused).end).toBeNull();
  expect(viewOf(paused).headline).toMatch(
    /^25 of 60 companies have moved, 35 to go\. The windows are paused: no move begins after \S+ \d\d:\d\d UTC until support resumes them\./,
  );
  const few = {
    ...paused,
    counts: counts({ total: 60, moved: 59, waiting: 1 }),
    throughput: { moved: 60, withinMs: 60_000 },
  };
  expect(viewOf(few).end).not.toBeNull();
  const after = new Date(Date.parse(LATER) + 120_000).toISOString();
  expect(migrationView(progressOf(migrationPlan(), paused), FACTS, after).headline).toContain(
    'The windows are paused, so no move begins until support resumes them.',
  );
});

test('the headlines without a task can name the confirmation of a key instead', () => {
  const moving = stateAt('complete-migration', { counts: counts({ total: 60, moved: 41, waiting: 19 }) });
  const { headline } = viewOf(moving);
  expect(headline).toContain('Nothing for you to do.');
  expect(headlineFor(headline, false)).toBe(headline);
  expect(headlineFor(headline, true)).toBe(headline.replace('Nothing for you to do.', CONFIRM_KEY));
});
