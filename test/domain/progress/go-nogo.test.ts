import type { Answer, GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import type { Forecast } from '../../../domain/progress/forecast';
import { goNoGo } from '../../../domain/progress/go-nogo';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import type { Window } from '../../../domain/planning/windows';
import { AT, counts, firstCompany, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { platform } from '../../support/migrations/platforms';

const quickBooks = platform('quickbooks-online');

const plan = migrationPlan({ contact: 'Sam' });

const MOVING = stateAt('complete-migration', { counts: counts({ total: 10, moved: 1, waiting: 9 }) });
const NIGHT: Window = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'UTC' };

const ACCOUNT = { plan: 'paid', role: 'administrator', companyLimit: null, companiesUsed: 1, expiresAt: null };
const SERVICE: GoNoGoFacts['service'] = {
  account: ACCOUNT,
  platformEnabled: true,
  callbackUrl: null,
  application: { clientId: 'app-1', environment: 'production' },
};

const FORECAST: Forecast = {
  ...{ companies: 9, isComplete: true, beginsAt: '2026-03-09T22:00:00.000Z', basis: 'estimate' },
  ends: { earliest: '2026-03-09T23:00:00.000Z', latest: '2026-03-10T03:00:00.000Z' },
  staleMs: 5 * 3_600_000,
};

const facts = (changes: Partial<GoNoGoFacts> = {}, state: MigrationState = MOVING): GoNoGoFacts => ({
  migrationId: plan.migrationId,
  now: '2026-03-09T09:00:00.000Z',
  route: 'managed',
  platform: quickBooks,
  contact: 'Sam, +44 20 7946 0000',
  limits: { ...DEFAULT_LIMITS, windows: [NIGHT] },
  next: {
    wave: 2,
    companies: 9,
    unconfirmed: 0,
    withoutCredential: 0,
    firstWithoutCredential: [],
    leftBehind: 0,
    firstLeftBehind: [],
    oldestCredentialAt: AT,
  },
  chosenFirst: null,
  toCreate: 9,
  failures: { failed: 0, tried: 1 },
  forecast: FORECAST,
  progress: progressOf(plan, state),
  windowsPaused: null,
  workers: { workflows: 1, activities: 1 },
  failing: [],
  service: SERVICE,
  applications: { migrationId: 'kite.quickbooks-online', client: 'kite', supplied: null, others: [] },
  moved: [],
  ...changes,
});

const noGos = (given: GoNoGoFacts): readonly Answer['check'][] =>
  goNoGo(given).answers.flatMap(({ check, go }) => (go ? [] : [check]));

test('an application that another open migration has replaced is a no-go that names both applications', () => {
  const supplied = { clientId: 'kite-app', environment: 'production', suppliedBy: 'Cleo' };
  const bee = { migrationId: 'bee.quickbooks-online', client: 'bee', isSupplied: true };
  const applications = {
    ...{ migrationId: 'kite.quickbooks-online', client: 'kite', supplied },
    others: [{ ...bee, application: { clientId: 'app-1', environment: 'production' } }],
  };
  const replaced = facts({ applications });
  expect(noGos(replaced)).toEqual(['application']);
  expect(goNoGo(replaced).answers.find(({ check }) => check === 'application')?.why).toBe(
    'kite.quickbooks-online uses the application kite-app (production), but bee.quickbooks-online uses ' +
      'app-1 (production); an account has only one application per platform',
  );
});

test('a company that was chosen to go first, but cannot be moved, is a no-go', () => {
  const chosen = (notReady: string | null) => facts({ chosenFirst: { reference: 'C-7', notReady } });
  expect(noGos(chosen(null))).toEqual([]);
  const notReady = chosen('no credential supplied');
  expect(noGos(notReady)).toEqual(['first-company']);
  expect(goNoGo(notReady).answers.find(({ check }) => check === 'first-company')?.why).toBe(
    'C-7 was chosen to go first, but cannot be moved: no credential supplied',
  );
});

test('companies of earlier waves that cannot be moved are named, but do not hold up the next wave', () => {
  const next = { ...facts().next, leftBehind: 1, firstLeftBehind: ['C-7'] };
  const given = facts({ next });
  expect(noGos(given)).toEqual([]);
  expect(goNoGo(given).answers.find(({ check }) => check === 'companies')?.why).toBe(
    '9 companies of wave 2 can be moved, 1 company (C-7) of earlier waves cannot be moved yet',
  );
});

const warned = (given: GoNoGoFacts): readonly Answer['check'][] =>
  goNoGo(given).answers.flatMap(({ check, warning }) => (warning ? [check] : []));

test('an answer that contains a warning is a go with a warning, not a plain go', () => {
  const application = { clientId: 'app-1', environment: 'production', suppliedBy: 'Cleo' };
  const applications = { ...facts().applications, supplied: application };
  const supplied = facts({ applications });
  expect(warned(supplied)).toEqual([]);
  expect(warned(facts())).toEqual(['application']);
  expect(goNoGo(facts()).answers.find(({ check }) => check === 'application')?.why).toBe(
    'app-1 (production); this application was not supplied for this migration',
  );
  const none = { ...SERVICE, application: null, account: { ...ACCOUNT, plan: 'trial' } };
  const selfService = { route: 'self-service', platform: platform('xero') } as const;
  expect(warned(facts({ ...selfService, service: none }))).toEqual(['account', 'application']);
  expect(warned(facts(selfService))).toEqual([]);
  expect(warned({ ...supplied, next: { ...facts().next, leftBehind: 1, firstLeftBehind: ['C-7'] } })).toEqual([
    'companies',
  ]);
});

test('companies without a usable credential are named', () => {
  const next = { ...facts().next, withoutCredential: 3, firstWithoutCredential: ['C-1', 'C-2'] };
  expect(goNoGo(facts({ next })).answers.find(({ check }) => check === 'credentials')?.why).toBe(
    'a usable credential is missing for 3 confirmed companies (C-1, C-2 and 1 more) of wave 2',
  );
});

test('companies that were moved with a replaced application are a no-go that names them', () => {
  const moved = [
    { application: { clientId: 'old-app', environment: 'production' }, companies: 3, references: ['C-1', 'C-2'] },
    { application: { clientId: 'app-1', environment: 'production' }, companies: 1, references: ['C-4'] },
  ];
  const replaced = facts({ moved });
  expect(noGos(replaced)).toEqual(['application']);
  expect(goNoGo(replaced).answers.find(({ check }) => check === 'application')?.why).toBe(
    '3 companies (C-1, C-2 and 1 more) were connected with old-app (production), but app-1 (production) is registered now, ' +
      'so the service can no longer refresh their tokens; register old-app (production) again, or let their end ' +
      'customers reconnect with their links instead; once the replaced application is registered again, 1 company ' +
      'connected with app-1 (production) must reconnect',
  );
});

test('a replaced application is not to be registered again if more companies depend on the registered application', () => {
  const moved = [
    { application: { clientId: 'old-app', environment: 'production' }, companies: 1, references: ['C-1'] },
    { application: { clientId: 'app-1', environment: 'production' }, companies: 3, references: ['C-2'] },
  ];
  // Nothing has to be done before other companies are moved, so the answer is only a warning.
  expect(goNoGo(facts({ moved })).answers.find(({ check }) => check === 'application')).toEqual({
    ...{ check: 'application', go: true, warning: true },
    why: expect.stringContaining(
      'let its end customer reconnect with its link, and keep app-1 (production) registered, because 3 companies depend on it',
    ) as string,
  });
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
  // The Schedule was paused before this window could be opened, or the opened window has closed.
  expect(noGos(facts(given))).toEqual(['window']);
  const yesterday = { opensAt: '2026-03-02T22:00:00.000Z', closesAt: '2026-03-03T04:00:00.000Z' };
  expect(noGos(facts(given, { ...MOVING, openedWindow: yesterday }))).toEqual(['window']);
  expect(noGos(facts({ ...given, now: '2026-03-10T05:00:00.000Z' }, { ...MOVING, openedWindow }))).toEqual(['window']);
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
  // Confirmations and credentials can arrive early. While the details are being checked, a missing confirmation or
  // credential is not a no-go yet.
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
  ['no worker is answering', facts({ progress: null }), ['decisions', 'worker']],
])('the result is a no-go if %s', (_, given, check) => {
  expect(goNoGo(given).go).toBe(false);
  expect(noGos(given)).toEqual(check);
});

test.each([null, undefined])('self-service needs no application if tokens are never refreshed: %s', (application) => {
  const { application: _, ...silent } = SERVICE;
  const service = application === undefined ? silent : { ...SERVICE, application };
  const given = facts({ route: 'self-service', platform: platform('square'), service });
  expect(goNoGo(given).answers.find(({ check }) => check === 'application')).toEqual({
    ...{ check: 'application', go: true },
    why: 'not needed: Square tokens are never refreshed',
  });
});

test('the account is checked for the route of the migration, even if no worker is answering', () => {
  const given = facts({ route: 'self-service', platform: platform('xero'), progress: null });
  expect(noGos(given)).toEqual(['decisions', 'worker']);
});

test('a migration that a person has paused is a no-go, which says who paused it, why, and who can resume it', () => {
  const paused = { ...MOVING, pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } };
  const [decisions] = goNoGo(facts({}, paused)).answers;
  expect(decisions?.why).toMatch(/^paused by Sam since .* UTC: holiday; waiting for support: resume the migration/);
});

const whyOf = (given: GoNoGoFacts, asked: Answer['check']): string | undefined =>
  goNoGo(given).answers.find(({ check }) => check === asked)?.why;

test('credentials are a no-go while no company is confirmed, and the companies say what is missing', () => {
  const next = { ...facts().next, wave: null, companies: 60, unconfirmed: 60, oldestCredentialAt: null };
  expect(noGos(facts({ next }))).toEqual(['sync-disabled', 'credentials', 'companies']);
  expect(whyOf(facts({ next }), 'credentials')).toBe(
    'no company that is still to be moved is confirmed yet, so no credential can be used',
  );
  expect(whyOf(facts({ next }), 'companies')).toBe('none of 60 companies can be moved yet (60 not confirmed)');
  const confirmed = { ...next, unconfirmed: 57, withoutCredential: 3 };
  expect(whyOf(facts({ next: confirmed }), 'companies')).toBe(
    'none of 60 companies can be moved yet (57 not confirmed, 3 without a usable credential)',
  );
});

test('a worker that has answered is a go, however many workers are polling', () => {
  expect(whyOf(facts({ workers: { workflows: 3, activities: 7 } }), 'worker')).toBe('a worker is answering');
});

test('the notes give the end and the time without current data according to the forecast, if there is one', () => {
  expect(goNoGo(facts()).notes.slice(-2)).toEqual([
    'the last company is expected to be moved by 2026-03-10 03:00 UTC at the latest',
    'until then, the data of a company can be out of date for up to 5 hours',
  ]);
  const some = { ...FORECAST, companies: 4, isComplete: false };
  expect(goNoGo(facts({ forecast: some })).notes.at(-2)).toBe(
    'the last of 4 companies that can be moved now is expected to be moved by 2026-03-10 03:00 UTC at the latest',
  );
  expect(goNoGo(facts({ forecast: null })).notes.join()).not.toContain('expected to be moved');
});

test('without a forecast, the expiry of the account is compared with the end of moves that start now', () => {
  const volume = { companies: 9, records: 0, companiesWithoutVolume: 0, largestCompany: 0, largestFamily: 0 };
  const estimated = estimate({
    volume: { ...volume, staleSince: null },
    limits: DEFAULT_LIMITS,
    speedEstimate: ASSUMED_SPEED,
    from: AT,
  });
  const expiring = (expiresAt: string) =>
    facts(
      { forecast: null, service: { ...SERVICE, account: { ...SERVICE.account, expiresAt } } },
      { ...MOVING, estimate: estimated },
    );
  expect(noGos(expiring('2026-06-01T00:00:00.000Z'))).toEqual([]);
  expect(noGos(expiring('2026-03-09T10:00:00.000Z'))).toEqual(['account']);
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

test.each<[Partial<typeof DEFAULT_LIMITS>, GoNoGoFacts['failures'], string]>([
  [
    { toleratedFailures: 5 },
    { failed: 2, tried: 40 },
    'more than 5 companies could not be moved; or, once 20 companies have been tried, more than 20% of them could not be moved (so far: 2 of 40 tried companies)',
  ],
  [
    { toleratedFailures: 1 },
    { failed: 2, tried: 40 },
    'a worker tries another company: the number of companies that could not be moved already exceeds the limit (so far: 2 of 40 tried companies)',
  ],
])('the notes say when failures pause the migration: limits %j, failures %j', (limits, failures, sentence) => {
  const { pauseNotes } = goNoGo(facts({ limits: { ...DEFAULT_LIMITS, ...limits }, failures }));
  expect(pauseNotes[0]).toBe(sentence);
});

test('without a limit on failures, the notes say that their number never pauses the migration', () => {
  const limits = { ...DEFAULT_LIMITS, toleratedShare: null };
  const { pauseNotes, notes } = goNoGo(facts({ limits, failures: { failed: 2, tried: 40 } }));
  expect(pauseNotes.join()).not.toContain('could not be moved');
  expect(notes[0]).toBe(
    'the number of companies that could not be moved never pauses the migration (so far: 2 of 40 tried companies)',
  );
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
