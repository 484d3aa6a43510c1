import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import { AT } from '../../support/migrations/migration-states';
import { platform } from '../../support/migrations/platforms';
import { ACCOUNT, facts, FORECAST, MOVING, NO_ANSWER, noGos, SERVICE, warned, whyOf } from './go-nogo-sample';

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
      'app-1 (production); an account has only one application per platform; an account serves one client, so give ' +
      'each client its own account (docs/deploying.md)',
  );
});

test('an answer that contains a warning is a go with a warning, not a plain go', () => {
  const application = { clientId: 'app-1', environment: 'production', suppliedBy: 'Cleo' };
  const applications = { ...facts().applications, supplied: application };
  const supplied = facts({ applications });
  expect(warned(supplied)).toEqual([]);
  expect(warned(facts())).toEqual(['application']);
  expect(goNoGo(facts()).answers.find(({ check }) => check === 'application')?.why).toBe(
    "app-1 (production); this application was not supplied for this migration, so check that it obtained the client's tokens",
  );
  const application1 = { clientId: 'app-1', environment: 'production' };
  const bee = { migrationId: 'bee.quickbooks-online', client: 'bee', hasEnded: true, application: application1 };
  const dependents = { ...facts().dependents, others: [{ ...bee, companies: 24 }] };
  expect(whyOf(facts({ dependents }), 'application')).toBe(
    'the registered application is app-1 (production); no application was supplied, and connected companies of ' +
      'another client depend on the registered one: ' +
      "bee.quickbooks-online (24 companies, ended); if app-1 (production) obtained the client's tokens, supply it; " +
      'otherwise give each client its own account (docs/deploying.md)',
  );
  const none = { ...SERVICE, application: null, account: { ...ACCOUNT, plan: 'trial' } };
  const selfService = { route: 'self-service', platform: platform('xero') } as const;
  expect(warned(facts({ ...selfService, service: none }))).toEqual(['account', 'application']);
  expect(warned(facts(selfService))).toEqual([]);
  expect(warned({ ...supplied, next: { ...facts().next, leftBehind: 1, firstLeftBehind: ['C-7'] } })).toEqual([
    'companies',
  ]);
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
      "let the company's end customer reconnect with the link, and keep app-1 (production) registered, because 3 companies depend on it",
    ) as string,
  });
});

test('a problem with the account or the application comes with the advice about it', () => {
  const account = { ...ACCOUNT, companyLimit: 0, plan: 'trial' };
  const whys = goNoGo(facts({ service: { ...SERVICE, account, application: null } })).answers.flatMap((answer) =>
    answer.check === 'account' || answer.check === 'application' ? [answer.why] : [],
  );
  expect(whys).toEqual([
    expect.stringMatching(/^the account has room for 0 companies, .+; choose another plan, delete companies/) as string,
    expect.stringMatching(
      /^no .+ application is registered, .+; supply the application that obtained the tokens$/,
    ) as string,
  ]);
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
  const given = facts({ route: 'self-service', platform: platform('xero'), ...NO_ANSWER });
  expect(noGos(given)).toEqual(['decisions', 'worker']);
});

test('without an answer, the account is not known to expire too early, and no other plan is advised', () => {
  const account = { ...SERVICE.account, expiresAt: '2026-06-01T00:00:00.000Z' };
  const given = facts({ service: { ...SERVICE, account }, forecast: null, ...NO_ANSWER });
  expect(whyOf(given, 'account')).toBe(
    'the account expires at 2026-06-01 00:00 UTC; the estimate of when the last company will have moved cannot be read; check this again once a worker answers',
  );
});

test('without a forecast, the expiry of the account is compared with the end of moves that start now', () => {
  const volume = { companies: 9, records: 0, companiesWithoutVolume: 0, largestCompany: 0, largestFamily: 0 };
  const estimated = estimate({
    volume: { ...volume, staleSince: null },
    limits: DEFAULT_LIMITS,
    speedEstimate: ASSUMED_SPEED,
    from: AT,
  });
  const expiring = (expiresAt: string, moving = MOVING, changes: Partial<GoNoGoFacts> = {}) =>
    facts(
      { forecast: null, ...changes, service: { ...SERVICE, account: { ...SERVICE.account, expiresAt } } },
      { ...moving, estimate: estimated },
    );
  expect(noGos(expiring('2026-06-01T00:00:00.000Z'))).toEqual([]);
  expect(noGos(expiring('2026-03-09T10:00:00.000Z'))).toEqual(['account']);
  // While the windows are paused, the forecast can have no end.
  const paused = { forecast: { ...FORECAST, ends: null, staleMs: null }, windowsPaused: 'paused by Sam' };
  expect(noGos(expiring('2026-06-01T00:00:00.000Z', MOVING, paused))).toEqual(['window']);
  const assumed = 'even if all companies could move now, the last company could move as late as 2026-03-';
  expect(whyOf(expiring('2026-03-09T10:00:00.000Z', MOVING, paused), 'account')).toContain(assumed);
  // The forecast covers only the companies that can move now. Another company lacks a credential.
  const ends = { earliest: '2026-03-09T09:01:00.000Z', latest: '2026-03-09T09:01:00.000Z' };
  const partly = { forecast: { ...FORECAST, ends, isComplete: false } };
  expect(noGos(expiring('2026-03-09T10:00:00.000Z', MOVING, partly))).toEqual(['account']);
  expect(whyOf(expiring('2026-03-09T10:00:00.000Z', MOVING, partly), 'account')).toContain(assumed);
  expect(
    noGos(expiring('2026-03-09T10:00:00.000Z', MOVING, { forecast: { ...partly.forecast, isComplete: true } })),
  ).toEqual([]);
  // If only deferred companies are left, there is no forecast, but the expiry is still compared with an estimated end.
  const deferred = { ...MOVING, counts: { ...MOVING.counts, deferred: MOVING.counts.waiting } };
  expect(noGos(expiring('2026-06-01T00:00:00.000Z', deferred))).toEqual([]);
  expect(noGos(expiring('2026-03-09T10:00:00.000Z', deferred))).toEqual(['account']);
});
