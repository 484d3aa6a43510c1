/** Tests the view of a migration that the portal's page shows. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { nextMove } from '../../../domain/planning/windows';
import { momentText } from '../../../domain/text/sentences';
import { noExceptionsText } from '../../../portal/client/remedies';
import { STEPS } from '../../../domain/migration/steps';
import { progressOf } from '../../../domain/progress/progress';
import { MigrationViewSchema } from '../../../portal/contract/migration-view';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  proposeTime,
  reject,
  START_AT,
  stateAt,
} from '../../support/migrations/migration-states';

const FACTS = {
  waves: [],
  migrationKey: 'tokenferry-key-1.abc',
  unconfirmedFirst: null,
  confirmers: null,
  applications: null,
  isRotating: true,
};
const viewOf = (state: MigrationState) =>
  migrationView(progressOf(migrationPlan({ route: state.route }), state), FACTS, LATER);

test.each(STEPS)('the view in step %s has the shape of the contract', (step) => {
  const view = viewOf(stateAt(step));
  expect(MigrationViewSchema.parse(view)).toEqual(view);
  expect(view.steps.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('tells the client what to do, why and by when', () => {
  const view = viewOf(decideAll(stateAt('schedule'), proposeTime('support')));
  expect(view.task).toEqual({
    what: 'Approve the start at 2026-03-07 20:00 UTC.',
    why: 'Nothing moves before you and support have agreed on a start.',
    since: null,
    by: START_AT,
  });
  expect(view).toMatchObject({
    headline: 'Please approve the start at 2026-03-07 20:00 UTC.',
    start: { at: START_AT, by: 'Sam', role: 'support', isAgreed: false },
    next: 'Once you and support have agreed on a start, you add the callback URL to your application at the platform.',
  });
});

test('the task names the details to correct, in the words for the client', () => {
  const problems = ['the application is used by beta.xero', 'the account is read-only'];
  const clientProblems = ['the application is used by another client', 'the account is read-only'];
  const checked = {
    ...preflight(),
    problems,
    clientProblems,
    problemCodes: ['account-limit', 'account-limit'] as never,
  };
  const view = viewOf(stateAt('supply-details', { preflight: checked }));
  expect(view.task).toMatchObject({ what: 'Correct these details:', problems: clientProblems });
  expect(MigrationViewSchema.parse(view)).toEqual(view);
  expect(viewOf(stateAt('schedule')).task).not.toHaveProperty('problems');
});

test('one missing credential does not hide the companies to confirm, and the task is said once', () => {
  const lacking = { waiting: 51, withoutCredential: 1, firstWithoutCredential: ['M-1'] };
  const waves = { unconfirmed: 50, unconfirmedInNextWave: 50 };
  const view = viewOf(stateAt('complete-migration', { counts: counts({ total: 60, moved: 9, ...lacking, ...waves }) }));
  expect(view.headline).toBe('9 of 60 companies have moved. The migration is waiting for you.');
  expect(view.task?.what).toMatch(/^Supply credentials for 1 company \(M-1\); then turn off syncing for 50 companies/);
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
  const progress = progressOf(
    migrationPlan(),
    stateAt('complete-migration', { counts: counts({ total: 3, moved: 3 }) }),
  );
  const view = migrationView(progress, { ...FACTS, applications }, LATER);
  expect(view.notices).toEqual([
    expect.stringMatching(
      /^Warning: 2 companies \(M-1, M-2\) were .* register it again, or let their end customers reconnect with their links instead\. The list of .* has the links\.$/,
    ),
  ]);
  expect(view.outOfDate).toBe(
    'The data of all companies that were moved, apart from the exceptions below, is up to date. The data of 2 companies (M-1, M-2) goes out of date, because their applications were replaced: the service can no longer refresh their tokens.',
  );
  expect(migrationView(progress, FACTS, LATER)).toMatchObject({
    notices: [],
    outOfDate: 'The data of all companies that were moved is up to date.',
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

test('later tasks are shown under "next", and an unconfirmed first company must be confirmed before it is moved', () => {
  const moving = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 41, waiting: 19, unconfirmed: 5 }),
  });
  expect(viewOf(moving)).toMatchObject({
    task: null,
    next: 'Later, turn off syncing for 5 companies, confirm that it is off, and supply credentials.',
  });
  const first = stateAt('migrate-first-company', {
    requestedFirst: { reference: 'acme-9', notReady: true },
    counts: counts({ total: 9, waiting: 9, unconfirmed: 4 }),
  });
  const facts = { ...FACTS, unconfirmedFirst: 'acme-9' };
  expect(migrationView(progressOf(migrationPlan(), first), facts, LATER).task?.what).toBe(
    'Turn off syncing for acme-9 in your own application, because this company moves first. Then confirm that its syncing is off, and supply its credential. Instead, you can ask support to choose another company.',
  );
  expect(viewOf(first).task?.what).toBe(
    'Supply what acme-9 still needs, because this company moves first. "Companies" shows what is missing. Instead, you can ask support to choose another company.',
  );
});

test('what the client can supply during a pause by support has the reason of the task, not of the pause', () => {
  const paused = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 9, waiting: 51, withoutCredential: 1, firstWithoutCredential: ['N-050'] }),
    pause: { reason: 'holiday', by: 'Sam', role: 'support', stopReason: null, at: AT },
  });
  expect(viewOf(paused).task).toMatchObject({
    what: 'Please supply credentials for 1 company (N-050).',
    why: 'Some companies cannot move before you have done this.',
  });
});

test('changes that support has asked for are the task of the client, with the reason', () => {
  const rejection = { ...reject('supply-details', 'support'), reason: 'register the production application' };
  const state = { ...decideAll(stateAt('supply-details'), rejection), preflight: preflight() };
  const { task, actions } = viewOf(state);
  expect(task).toMatchObject({
    what: 'Change the supplied details as support has asked, or ask support to accept them as they are.',
    why: 'The reason: register the production application',
  });
  expect(actions.filter(({ isExpected }) => isExpected).map(({ message }) => message)).toEqual([
    'manifestSupplied',
    'applicationSupplied',
  ]);
});

test('the task is due when the window closes, which no notice repeats', () => {
  const windows = [{ days: ['sat'], from: '21:00', to: '23:00', timeZone: 'UTC' } as const];
  const state = stateAt('disable-syncing', { limits: { ...DEFAULT_LIMITS, windows } });
  const { task, notices, windows: text } = viewOf(state);
  expect(task?.by).toBe('2026-03-07T23:00:00.000Z');
  expect(task?.ifLate).toMatch(
    /^If something is still missing then, moves begin in the next window, at 2026-03-14 21:00 UTC\. /,
  );
  expect(text).toBe('sat 21:00-23:00 UTC');
  expect(notices).toEqual([
    expect.stringMatching(/^The start is outside the windows: moves begin at 2026-03-07 21:00 UTC/),
  ]);
});

test('a notice says the deadline of support while the client has nothing to do', () => {
  const windows = [{ days: ['sat'], from: '21:00', to: '23:00', timeZone: 'UTC' } as const];
  const state = stateAt('update-application', { limits: { ...DEFAULT_LIMITS, windows } });
  const { task, notices } = viewOf(decideAll(state, approve('update-application', 'client')));
  expect(task).toBeNull();
  expect(notices).toContainEqual(expect.stringMatching(/^Deadline: the window closes at 2026-03-07 23:00 UTC/));
});

test('the client has nothing to do while support has to act', () => {
  const view = viewOf(stateAt('migrate-first-company', { firstCompany: firstCompany() }));
  expect(view.task).toBeNull();
  expect(view.headline).toBe(
    'The first company, acme-1, has moved. Support is checking this company before the other companies follow. Nothing for you to do.',
  );
});

test('the client can supply credentials while other companies move', () => {
  const view = viewOf(
    stateAt('complete-migration', { counts: counts({ total: 9, moved: 3, waiting: 6, withoutCredential: 2 }) }),
  );
  expect(view.task).toMatchObject({ what: 'Please supply credentials for 2 companies.', since: null });
  expect(view.counts).toMatchObject({ moved: 3, notMovedYet: 6, withoutCredential: 2 });
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
  expect(view.switchBackOn).toMatch(/^Companies whose access was not handed over to us\. You may use them/);
  expect(viewOf(stateAt('complete-migration', { closed: 'completed' })).task?.what).toContain('handover report');
  expect(view).toMatchObject({ actions: [], start: null, next: null, migrationKey: null, state: 'cancelled' });
});

test('a problem or warning that stands for several companies says where the others are', () => {
  const found = { problems: ['C-1: no name; and 43 more companies like this'], problemCodes: ['name-empty'] as const };
  const state = stateAt('supply-details', {
    preflight: preflight({ ...found, warnings: ['C-9: odd; and 1,203 more companies like this'] }),
  });
  const { task, details } = viewOf(state);
  const problem =
    'C-1: no name; and 43 more companies like this; "Companies that need attention" (ferry --portal exceptions) lists all of them';
  expect(task?.problems).toEqual([problem]);
  expect(details.problems).toEqual([problem]);
  expect(details.warnings).toEqual([
    'C-9: odd; and 1,203 more companies like this; look at the other rows of your manifest file',
  ]);
  expect(currentDetails(progressOf(migrationPlan(), state), { now: LATER })).toContain(
    'the portal lists all of them; without it, ask support',
  );
});

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
    basis: 'for 5 companies that can be moved now, at the current rate',
  });
  expect(endOf(0)).toMatchObject({ companies: 35, basis: 'at the current rate' });
});
