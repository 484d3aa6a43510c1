/** Tests what the portal's view says that the client has to do, by when and why, and what follows. */
import type { Route } from '../../../platforms/platforms';
import type { Counts } from '../../../domain/companies/counts';
import type { FindingCode } from '../../../domain/companies/finding';
import type { FirstCompany } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { dependentFindings } from '../../../domain/preflight/dependents';
import { MigrationViewSchema } from '../../../portal/contract/migration-view';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  preflight,
  proposeTime,
  reject,
  START_AT,
  stateAt,
} from '../../support/migrations/migration-states';
import { detailsAt } from '../temporal-ui/details-page';
import { viewOf } from './views';

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

test('a callback URL that the client has confirmed early is not named as its next task', () => {
  const confirmed = decideAll(stateAt('schedule'), approve('update-application', 'client'));
  expect(viewOf(confirmed).next).toBe(
    'Once you and support have agreed on a start, and the callback URL is confirmed, you turn off syncing in your own application and supply any missing credentials.',
  );
  const bySupport = decideAll(stateAt('schedule'), approve('update-application', 'support'));
  expect(viewOf(bySupport).next).toContain('you add the callback URL');
});

test('only on a platform that rotates tokens, a sync can invalidate a credential', () => {
  const whyOf = (isRotating: boolean) => viewOf(stateAt('disable-syncing'), { isRotating }).task?.why;
  expect(whyOf(true)).toContain('its credential can stop working before the company is moved');
  expect(whyOf(false)).toBe('Once a company has been moved, only we may use its credential.');
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

test('while another client depends on the registered application, the client is asked to supply its own', () => {
  const application = { clientId: 'bee-app', environment: 'production' };
  const bee = { migrationId: 'bee.xero', client: 'bee', hasEnded: true, application, companies: 24 };
  const [{ clientMessage = '' } = {}] = dependentFindings(
    application,
    { client: 'acme', supplied: null, others: [bee] },
    true,
  );
  const state = stateAt('supply-details', { preflight: preflight({ warnings: [clientMessage] }) });
  const view = viewOf(state);
  expect(view).toMatchObject({
    headline: 'Support is reviewing your details, and needs to know your QuickBooks Online application.',
    task: {
      what: 'Please supply the application that obtained your tokens, or tell support which application it is.',
      why: 'Tokens work only with the application that obtained them.',
    },
    details: { warnings: [clientMessage] },
  });
  expect(view.actions.find(({ title }) => title === 'Supply your application')).toMatchObject({ isExpected: true });
  expect(JSON.stringify(view)).not.toMatch(/\bbee\b/);
  expect(detailsAt(state)).toContain('run `ferry seal secret.txt --for migration.key');
  // After step 1, the client can supply the application only if the platform has refused it.
  expect(viewOf(stateAt('schedule', { preflight: preflight({ warnings: [clientMessage] }) })).task?.what).not.toContain(
    'application',
  );
});

test('if both sides have to act, the task lists only what the client has to do', () => {
  const open = counts({ total: 10, waiting: 6, withoutCredential: 2, heldBack: 3, outcomeUnknown: 1, moved: 3 });
  const state = stateAt('complete-migration', { counts: { ...open, waiting: 5 } });
  const { task, headline } = viewOf(state);
  expect(task?.what).toBe(
    'Supply credentials for 2 companies; correct or leave out 3 companies that cannot be moved as they are.',
  );
  expect(headline).not.toContain('the client must');
  const page = detailsAt(state);
  expect(page).toContain('**What to do:** supply credentials for 2 companies; correct or leave out 3 companies');
  expect(page).toContain('**What support has to do:** decide what to do about 1 company with an unknown outcome');
  expect(page).not.toContain('the client must');
});

describe('with problems that only support can solve', () => {
  const stateWith = (route: Route, ...problemCodes: readonly FindingCode[]) =>
    stateAt('supply-details', { route, preflight: preflight({ problems: [...problemCodes], problemCodes }) });

  test('the task lists only what the client can correct, and the details list everything', () => {
    const state = stateWith('managed', 'no-room', 'application-missing');
    const { task, details } = viewOf(state);
    expect(task).toMatchObject({ what: 'Correct these details:', problems: ['application-missing'] });
    expect(details.problems).toEqual(['no-room', 'application-missing']);
    expect(detailsAt(state)).toContain(
      '**What to do:** correct these details\n\n- application-missing\n\n' +
        '**What support has to do:** resolve these problems\n\n- no-room\n',
    );
  });

  test('the client is asked only for a missing manifest', () => {
    const { task, headline } = viewOf(stateWith('managed', 'no-companies', 'no-room'));
    expect(task?.what).toBe('Supply the manifest, which lists the companies to move.');
    expect(task).not.toHaveProperty('problems');
    expect(headline).toBe('Please supply the manifest, which lists the companies to move.');
  });

  test('support is told about its own problems, and in self-service the client has to solve all of them', () => {
    expect(detailsAt(stateWith('managed', 'no-room'))).toContain(
      '**What support has to do:** resolve these problems\n\n- no-room\n',
    );
    const { task } = viewOf(stateWith('self-service', 'no-room', 'application-missing'));
    expect(task?.problems).toEqual(['no-room', 'application-missing']);
  });
});

test('one missing credential does not hide the companies to confirm, and the task is said once', () => {
  const lacking = { waiting: 51, withoutCredential: 1, firstWithoutCredential: ['M-1'] };
  const waves = { unconfirmed: 50, unconfirmedInNextWave: 50 };
  const view = viewOf(stateAt('complete-migration', { counts: counts({ total: 60, moved: 9, ...lacking, ...waves }) }));
  expect(view.headline).toBe('9 of 60 companies have moved. The migration is waiting for you.');
  expect(view.task?.what).toMatch(/^Supply credentials for 1 company \(M-1\); then turn off syncing for 50 companies/);
});

test('later tasks are shown under "next", and an unconfirmed first company must be confirmed before it is moved', () => {
  const moving = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 41, waiting: 19, unconfirmed: 5, unconfirmedInFirstWave: 0 }),
  });
  expect(viewOf(moving)).toMatchObject({
    task: null,
    next: 'Later, turn off syncing for 5 companies, confirm that it is off, and supply credentials.',
  });
  const first = stateAt('migrate-first-company', {
    requestedFirst: { reference: 'acme-9', notReady: true },
    counts: counts({ total: 9, waiting: 9, unconfirmed: 4 }),
  });
  expect(viewOf(first, { unconfirmedFirst: 'acme-9' }).task?.what).toBe(
    'Turn off syncing for acme-9 in your own application, because this company moves first. Then confirm that its syncing is off, and supply its credential. Or ask support to choose another company.',
  );
  expect(viewOf(first).task?.what).toBe(
    'Supply the credential of acme-9 or correct its row in the manifest, because this company moves first. The list of companies says what it needs. Or ask support to choose another company.',
  );
});

test('other companies follow the first company only if one is open', () => {
  const nextOf = (of: Partial<Counts>, stage?: FirstCompany['stage']): string | null =>
    viewOf(
      stateAt('migrate-first-company', {
        counts: counts(of),
        ...(stage && { firstCompany: firstCompany({ stage }) }),
      }),
    ).next;
  const follow = 'Once support has approved the first company, the companies that have not moved yet follow.';
  expect([
    nextOf({ total: 9, waiting: 9 }),
    nextOf({ total: 3, failed: 1, importing: 1, waiting: 1 }, 'importing'),
    nextOf({ total: 2, moved: 1, waiting: 1 }, 'verified'),
    nextOf({ total: 2, failed: 1, waiting: 1 }, 'failed'),
  ]).toEqual(Array(4).fill(follow));
  expect([
    nextOf({ total: 1, waiting: 1 }),
    nextOf({ total: 3, excluded: 2, waiting: 1 }),
    nextOf({ total: 2, failed: 1, waiting: 1 }),
    nextOf({ total: 3, failed: 1, skipped: 1, syncing: 1 }, 'importing'),
    nextOf({ total: 2, failed: 1, moved: 1 }, 'verified'),
    nextOf({ total: 1, outcomeUnknown: 1 }, 'failed'),
  ]).toEqual(Array(6).fill('Once support has approved the first company, you and support sign off the handover.'));
  // The requested company can be the failed one, which is tried again, or the waiting one.
  const requested = stateAt('migrate-first-company', {
    counts: counts({ total: 2, failed: 1, waiting: 1 }),
    requestedFirst: { reference: 'acme-1', notReady: false },
  });
  expect(viewOf(requested).next).toBe(
    'Once support has approved the first company, any companies that have not moved yet follow, and then you and support sign off the handover.',
  );
});

test('the client asks for another first company if the chosen one is not in the manifest or was left out', () => {
  const state = stateAt('migrate-first-company', {
    requestedFirst: { reference: 'acme-99', notReady: true },
    counts: counts({ total: 9, waiting: 9, withoutCredential: 4 }),
  });
  expect(viewOf(state, { unknownFirst: 'acme-99' })).toMatchObject({
    headline:
      'acme-99 was chosen to move first, but is not in the manifest. Please ask support to choose another company.',
    task: { what: 'Ask support to choose another company to move first, because acme-99 is not in the manifest.' },
  });
  expect(viewOf(state, { leftOutFirst: 'acme-99' })).toMatchObject({
    headline: 'acme-99 was chosen to move first, but was left out. Please ask support to choose another company.',
    task: { what: 'Ask support to choose another company to move first, because acme-99 was left out.' },
  });
  const cancelled = viewOf({ ...state, closed: 'cancelled' }, { leftOutFirst: 'acme-99' });
  expect(cancelled.headline).not.toContain('acme-99');
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

test('during a pause by a person, the client is told that it can resume the migration, if it can', () => {
  const pauseBy = (stopReason: 'too-many-failures' | null) =>
    viewOf(stateAt('update-application', { pause: { reason: 'why', by: 'Sam', role: 'support', stopReason, at: AT } }));
  const { headline, task } = pauseBy(null);
  expect(headline).toContain('You or support can resume the migration.');
  expect(task?.what).toBe('Resume the migration once the pause is no longer needed, or ask support to do so.');
  expect(task?.why).toBe('No move begins while the migration is paused.');
  expect(pauseBy('too-many-failures').task).toBeNull();
});

test('changes that support has asked for are the task of the client, with the reason', () => {
  const rejection = { ...reject('supply-details', 'support'), reason: 'register the production application' };
  const state = { ...decideAll(stateAt('supply-details'), rejection), preflight: preflight() };
  const { task, actions } = viewOf(state);
  expect(task).toMatchObject({
    what: 'Change the supplied details as support has asked, or ask support to accept them as they are.',
    why: 'Sam (support) has asked for a change: register the production application',
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
    /^If anything is still missing at that time, moves cannot begin before the next window, at 2026-03-14 21:00 UTC\. /,
  );
  expect(text).toBe('sat 21:00-23:00 UTC');
  expect(notices).toEqual([
    expect.stringMatching(/^The start is outside the windows: no move begins before 2026-03-07 21:00 UTC/),
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

test('the client is asked to confirm companies that were added while others move', () => {
  const added = { unconfirmed: 2, unconfirmedInFirstWave: 2, unconfirmedInNextWave: 2 };
  const state = stateAt('complete-migration', { counts: counts({ total: 10, moved: 3, waiting: 7, ...added }) });
  const { task, next, actions } = viewOf(state);
  expect(task?.what).toBe('Please turn off syncing for 2 companies, confirm that it is off, and supply credentials.');
  expect(next).not.toContain('Later');
  expect(actions[0]).toMatchObject({ message: 'confirmSyncDisabled', isExpected: true });
});
