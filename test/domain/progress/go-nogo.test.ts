import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { WEEKDAYS } from '../../../domain/planning/windows';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { Answer, GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import { CHECK_WORKERS } from '../../../domain/progress/worker-advice';
import { AT, counts, firstCompany, stateAt } from '../../support/migrations/migration-states';
import { facts, MOVING, NO_ANSWER, noGos, SERVICE, warned, whyOf } from './go-nogo-sample';

test('a ledger that is out of date is a no-go, and nothing is said about companies, windows or the end', () => {
  const behind = facts({ isLedgerBehind: true });
  expect(goNoGo(behind)).toMatchObject({
    ...{ go: false, window: null, pauseNotes: [] },
    notes: ['no company can move before the ledger is reconciled, so windows and automatic pauses do not matter'],
  });
  const repair = `to repair it, run: ferry reconcile ${behind.migrationId}`;
  expect(whyOf(behind, 'companies')).toBe(`the ledger is out of date, so no company can move; ${repair}`);
  const checks = goNoGo(behind).answers.map(({ check }) => check);
  expect(checks).toEqual(['companies', 'service', 'account', 'application', 'worker']);
});

test('paused windows are a no-go, which says who paused them, why, and how to resume them', () => {
  const given = facts({ windowsPaused: 'paused by Sam: month end' });
  expect(noGos(given)).toEqual(['window']);
  expect(goNoGo(given).answers.find(({ check }) => check === 'window')?.why).toBe(
    'no window opens (paused by Sam: month end); resume the windows with: ferry schedule resume acme.quickbooks-online',
  );
});

test('paused windows are only a warning while a window is open, because moves continue until it closes', () => {
  const now = '2026-03-09T23:00:00.000Z';
  const given = { now, windowsPaused: 'paused by Sam: month end' };
  const openedWindow = { opensAt: '2026-03-09T22:00:00.000Z', closesAt: '2026-03-10T04:00:00.000Z' };
  const opened = facts(given, { ...MOVING, openedWindow });
  expect(noGos(opened)).toEqual([]);
  expect(goNoGo(opened).answers.find(({ check }) => check === 'window')).toEqual({
    ...{ check: 'window', go: true, warning: true },
    why:
      'moves continue until the open window closes at 2026-03-10 04:00 UTC; after that, no window opens ' +
      '(paused by Sam: month end); resume the windows with: ferry schedule resume acme.quickbooks-online',
  });
  const moving = facts(given, { ...MOVING, counts: { ...MOVING.counts, waiting: 8, syncing: 1 } });
  expect(noGos(moving)).toEqual([]);
  expect(noGos(facts({ ...given, isBatchRunning: true }))).toEqual([]);
  // The Schedule was paused before this window could be opened, or the opened window has closed.
  expect(noGos(facts(given))).toEqual(['window']);
  const yesterday = { opensAt: '2026-03-02T22:00:00.000Z', closesAt: '2026-03-03T04:00:00.000Z' };
  expect(noGos(facts(given, { ...MOVING, openedWindow: yesterday }))).toEqual(['window']);
  expect(noGos(facts({ ...given, now: '2026-03-10T05:00:00.000Z' }, { ...MOVING, openedWindow }))).toEqual(['window']);
});

test('paused windows are a no-go if a run has outlasted its window, because the next one is not opened', () => {
  const given = { now: '2026-03-09T23:00:00.000Z', windowsPaused: 'paused by Sam: month end', isBatchRunning: true };
  const closed = { opensAt: '2026-03-02T22:00:00.000Z', closesAt: '2026-03-03T04:00:00.000Z' };
  const syncing = { ...MOVING, counts: { ...MOVING.counts, waiting: 8, syncing: 1 }, openedWindow: closed };
  expect(noGos(facts(given, { ...syncing, window: closed }))).toEqual(['window']);
  // If the stored `window` is the current window, or overlaps it, the run moves companies in the current window.
  const current = { opensAt: '2026-03-09T22:00:00.000Z', closesAt: '2026-03-10T04:00:00.000Z' };
  expect(noGos(facts(given, { ...syncing, window: current }))).toEqual([]);
  const overlapping = { opensAt: '2026-03-09T21:00:00.000Z', closesAt: '2026-03-09T22:30:00.000Z' };
  expect(noGos(facts(given, { ...syncing, window: overlapping }))).toEqual([]);
});

test('paused windows that cover the whole week are only a warning once one was opened, because it never closes', () => {
  const wholeWeek = [{ days: [...WEEKDAYS], from: '00:00', to: '00:00', timeZone: 'UTC' }];
  const limits = { ...DEFAULT_LIMITS, windows: wholeWeek };
  const given = { limits, windowsPaused: 'paused by Sam: month end' };
  const openedWindow = { opensAt: '2026-03-02T22:00:00.000Z', closesAt: '2027-03-02T22:00:00.000Z' };
  const opened = facts(given, { ...MOVING, openedWindow });
  expect(goNoGo(opened).answers.find(({ check }) => check === 'window')).toEqual({
    ...{ check: 'window', go: true, warning: true },
    why: 'no further window opens (paused by Sam: month end), but moves continue, because the open window covers the whole week; to stop moves now: ferry pause acme.quickbooks-online',
  });
  expect(noGos(facts(given))).toContain('window');
});

test('the result is a go with all answers and the window if everything is ready', () => {
  const { go, window, answers, contact } = goNoGo(facts());
  expect(go).toBe(true);
  expect(window).toEqual({ opensAt: '2026-03-09T22:00:00.000Z', closesAt: '2026-03-10T04:00:00.000Z' });
  expect(answers.map(({ check }) => check)).toEqual([
    ...['decisions', 'sync-disabled', 'credentials', 'companies', 'service', 'account', 'application', 'worker'],
  ]);
  expect(contact).toBe('Sam, +44 20 7946 0000');
});

test('before the first company is moved, the window is the first window after the agreed start', () => {
  const agreed = stateAt('migrate-first-company', { counts: counts({ total: 10, waiting: 10 }) });
  expect(goNoGo(facts({ now: AT }, agreed))).toMatchObject({
    go: true,
    window: { opensAt: '2026-03-09T22:00:00.000Z' },
  });
});

test.each<[string, GoNoGoFacts, readonly Answer['check'][]]>([
  ['a step is open', facts({}, stateAt('update-application')), ['decisions']],
  // Confirmations and credentials can arrive early. Here none is missing, so only the decisions are a no-go.
  ['the details are being checked', facts({}, stateAt('supply-details', { preflight: null })), ['decisions']],
  [
    'the first company is not approved yet',
    facts({}, stateAt('migrate-first-company', { firstCompany: firstCompany(), counts: MOVING.counts })),
    ['decisions'],
  ],
  [
    'the migration is paused',
    facts({}, { ...MOVING, pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } }),
    ['decisions'],
  ],
  [
    'the platform rejects the application',
    facts({}, { ...MOVING, pause: { reason: '', by: null, stopReason: 'application-refused', at: AT } }),
    ['decisions', 'application'],
  ],
  ['one company is not confirmed', facts({ next: { ...facts().next, unconfirmed: 1 } }), ['sync-disabled']],
  ['one credential is missing', facts({ next: { ...facts().next, withoutCredential: 1 } }), ['credentials']],
  ['nothing can be moved', facts({ next: { ...facts().next, companies: 0 } }), ['companies']],
  ['the service does not answer', facts({ service: { unreachable: 'time-out' } }), ['service']],
  ['the service refuses the key', facts({ service: { refused: 'answered 401' } }), ['service']],
  [
    'the account has no room',
    facts({ service: { ...SERVICE, account: { ...SERVICE.account, companyLimit: 9 } } }),
    ['account'],
  ],
  [
    'the account expires before the last company is moved',
    facts({ service: { ...SERVICE, account: { ...SERVICE.account, expiresAt: '2026-03-10T02:00:00.000Z' } } }),
    ['account'],
  ],
  ['the application is missing', facts({ service: { ...SERVICE, application: null } }), ['application']],
  ['no worker polls for activities', facts({ workers: { workflows: 1, activities: 0 } }), ['worker']],
  ['an activity keeps failing', facts({ failing: ['the database is full'] }), ['worker']],
  ['no worker is answering', facts(NO_ANSWER), ['decisions', 'worker']],
])('the result is a no-go if %s', (_, given, check) => {
  expect(goNoGo(given).go).toBe(false);
  expect(noGos(given)).toEqual(check);
});

test('a migration that a person has paused is a no-go, which says who paused it, why, and who can resume it', () => {
  const paused = { ...MOVING, pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } };
  const [decisions] = goNoGo(facts({}, paused)).answers;
  expect(decisions?.why).toMatch(
    /^paused by Sam since .* UTC: holiday; waiting for client or support: resume the migration/,
  );
});

test('a worker that has answered is a go, however many workers are polling', () => {
  expect(whyOf(facts({ workers: { workflows: 3, activities: 7 } }), 'worker')).toBe('a worker is answering');
});

test('a worker that does not answer is a no-go, with the reason and what to do', () => {
  expect(whyOf(facts(NO_ANSWER), 'worker')).toBe('no worker is answering; start one');
  const failing = ['could not read the account: the service answered 503; next attempt at 10:00'];
  expect(whyOf(facts({ ...NO_ANSWER, failing }), 'worker')).toBe(
    `no worker is answering (last error: ${failing[0]}); start one`,
  );
  expect(whyOf(facts({ workers: { workflows: 1, activities: 0 } }), 'worker')).toBe(
    'no worker polls for activity tasks; to see what to restart, run: ferry doctor',
  );
});

test('a worker that cannot continue is a no-go, with the reason once, and what to check', () => {
  const reason = 'the worker cannot continue: a key is missing';
  const other = 'could not read the account: the service answered 503';
  const noAnswer = { progress: null, unanswered: { reason, remedy: 'check the keys' } };
  expect(whyOf(facts({ ...noAnswer, failing: [reason] }), 'worker')).toBe(`${reason}; check the keys`);
  expect(whyOf(facts({ ...noAnswer, failing: [reason, other] }), 'worker')).toBe(
    `${reason} (last error: ${other}); check the keys`,
  );
  // The main workflow answers, but the batch run cannot continue.
  const ofBatch = `${reason} (workflow acme.xero.batch)`;
  expect(whyOf(facts({ failing: [ofBatch] }), 'worker')).toBe(`${ofBatch}; ${CHECK_WORKERS}`);
  expect(whyOf(facts({ failing: [ofBatch, other] }), 'worker')).toBe(
    `${ofBatch}; ${CHECK_WORKERS}; activities keep failing: ${other}`,
  );
  expect(whyOf(facts({ failing: [other] }), 'worker')).toBe(`activities keep failing: ${other}`);
});

test('held-back companies are reported but are not a no-go', () => {
  const state = { ...MOVING, counts: counts({ total: 10, waiting: 10, heldBack: 1 }) };
  const { go, answers } = goNoGo(facts({}, state));
  expect(go).toBe(true);
  expect(answers.find(({ check }) => check === 'companies')?.why).toBe(
    '9 companies of wave 2 can be moved, 1 company is held back by the preflight',
  );
});

test('companies that are still syncing are enough for a go', () => {
  const state = { ...MOVING, counts: counts({ total: 2, syncing: 2 }) };
  const next = { ...facts().next, wave: null, companies: 0 };
  expect(goNoGo(facts({ next }, state)).go).toBe(true);
});

const signingOff = (changes: Partial<MigrationState> = {}): GoNoGoFacts => {
  const moved = counts({ total: 10, moved: 7, failed: 2, mustReconnect: 1, excluded: 1 });
  const next = { ...facts().next, wave: null, companies: 0 };
  return facts({ next, toCreate: 0, forecast: null }, stateAt('complete-migration', { counts: moved, ...changes }));
};

test('at the sign-off, nothing has to be moved, so only what matters then is judged', () => {
  const result = goNoGo(signingOff());
  expect(result).toMatchObject({ go: true, window: null, pauseNotes: [] });
  expect(result.answers.map(({ check }) => check)).toEqual([
    ...['decisions', 'companies', 'service', 'account', 'application', 'worker'],
  ]);
  expect(whyOf(signingOff(), 'decisions')).toBe(
    'waiting for support and client: sign off the handover (step 6, complete the migration)',
  );
  expect(whyOf(signingOff(), 'companies')).toBe(
    'every company has a final outcome: 7 of 10 companies moved, 1 must reconnect, 1 not moved, 1 left out',
  );
  expect(warned(signingOff())).toContain('companies');
});

test('an account that expires is no problem once no company is open', () => {
  const account = { ...SERVICE.account, expiresAt: '2026-12-31T00:00:00.000Z' };
  const given = { ...signingOff(), service: { ...SERVICE, account } };
  expect(noGos(given)).toEqual([]);
  expect(whyOf(given, 'account')).toBe('plan paid, expires at 2026-12-31 00:00 UTC');
});

test('at the sign-off, failed companies can still be retried, so the note is about the present', () => {
  expect(goNoGo(signingOff()).notes).toEqual([
    'no company is waiting or moving now, so windows and automatic pauses do not matter',
  ]);
});

test('a paused or rejected handover is a no-go', () => {
  expect(noGos(signingOff({ pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } }))).toEqual([
    'decisions',
  ]);
  const reopened = {
    step: 'complete-migration',
    by: 'Cleo',
    role: 'client',
    reason: 'a company is missing',
    at: AT,
  } as const;
  expect(noGos(signingOff({ reopened }))).toEqual(['decisions']);
});

test('a missing confirmation of companies that were added is named, although no decision is needed', () => {
  const added = { unconfirmed: 1, unconfirmedInFirstWave: 1 };
  const given = facts({}, { ...MOVING, counts: counts({ total: 10, moved: 1, waiting: 9, ...added }) });
  expect(noGos(given)).toEqual([]);
  expect(warned(given)).toContain('decisions');
  expect(whyOf(given, 'decisions')).toBe(
    'no decision is needed for the companies that can be moved; meanwhile, the client must turn off syncing for 1 company, confirm that it is off, and supply credentials (step 6, complete the migration)',
  );
});
