/** The remedies that the portal lists for a company: each one is accepted now, and someone can carry it out. */
import { needsLink, NOT_CHECKED } from '../../../domain/companies/company-state';
import { FAILURE_KINDS } from '../../../domain/companies/failures';
import { remediesFor } from '../../../domain/companies/remedies';
import { momentText } from '../../../domain/text/sentences';
import { isInReconnectLinks, offeredRemedies, otherHelp } from '../../../portal/client/remedies';
import { companyOf } from '../../../portal/server/companies';
import { AT, counts, firstCompany, stateAt } from '../../support/migrations/migration-states';

import { WAITING_ROW } from '../../portal/sample-row';
import { viewOf } from './views';

test.each(['managed', 'self-service'] as const)(
  '%s: someone can carry out each remedy of a failed company',
  (route) => {
    const failed = { counts: counts({ total: 9, moved: 6, failed: 3, mustReconnect: 1 }) };
    const actions = [
      ...viewOf(stateAt('complete-migration', { route, firstCompany: firstCompany(), ...failed })).actions,
    ];
    for (const failure of [null, ...FAILURE_KINDS]) {
      const facts = { linkUrl: 'https://link.example/1', heldBack: null, credential: null, confirmedAt: null };
      const remedies = remediesFor({ state: 'failed', failure, deferred: false, tries: 1, crossedAt: null, ...facts });
      const view = { actions, isRotating: true, route };
      const own = offeredRemedies(view, remedies);
      for (const { action } of own) expect(actions.map(({ message }) => message)).toContain(action.message);
      const others = otherHelp(view, { remedies, linkUrl: facts.linkUrl });
      expect(own.map(({ remedy }) => remedy)).toContain('replace-credential');
      expect(others.join(' ').includes('give up')).toBe(route === 'managed');
      expect(others.join(' ').includes('if you send the correct row')).toBe(failure === 'incomplete');
    }
  },
);

test('in self-service, only the client decides about its companies, and the contact helps with data', () => {
  const helpWith = (route: 'managed' | 'self-service', ...remedies: readonly string[]) =>
    otherHelp({ actions: [], isRotating: true, route }, { remedies, linkUrl: null });
  const ofSupport = ['retry', 'relink', 'replace-credential', 'credentials', 'skip', 'exclude'];
  expect(helpWith('managed', ...ofSupport)).toEqual([
    expect.stringMatching(/^Support can: try again; let the migration/),
  ]);
  expect(helpWith('self-service', ...ofSupport)).toEqual([]);
  expect(helpWith('self-service', 'application', 'amend')).toEqual([
    'Your contact can: register the application that obtained the credential, if no company has moved with another application, so that you can try the company again; correct the manifest, if you send the correct row.',
  ]);
});

test('a relink is offered as a wait for the end customer, not as a check that has to be asked for later', () => {
  const relinkAction = { message: 'relink', title: 'Wait until companies have reconnected' };
  const actions = [relinkAction] as unknown as Parameters<typeof offeredRemedies>[0]['actions'];
  expect(offeredRemedies({ actions, isRotating: true, route: 'managed' }, ['relink'])).toMatchObject([
    {
      action: { title: 'Wait for the reconnection' },
      advice: 'let the migration check the company again once the end customer has reconnected it',
    },
  ]);
});

test.each([
  ['managed', 'so that support can try the company again'],
  ['self-service', 'and then try the company again'],
] as const)('%s: the advice about another application says who tries the company again', (route, then) => {
  const action = { message: 'applicationSupplied', title: 'Supply the application' };
  const actions = [action] as unknown as Parameters<typeof offeredRemedies>[0]['actions'];
  expect(offeredRemedies({ actions, isRotating: true, route }, ['application'])).toMatchObject([
    {
      advice: `supply the application that obtained the credential, if no company has moved with another application, ${then}`,
    },
  ]);
});

test.each([
  [{ failure: 'reauthorization-required' }, true],
  [{ failure: 'reauthorization-required', linkUrl: null }, false],
  [{ failure: 'wrong-organization' }, false],
  [{ failure: 'wrong-organization', dependsOnReplaced: true }, true],
  [{ state: 'moved', failure: null, dependsOnReplaced: true }, true],
] as const)(
  'the page offers the file with the reconnect links only if it contains a link: %j',
  (changes, isOffered) => {
    const row = { ...WAITING_ROW, state: 'failed', linkUrl: 'https://link.example/1', ...changes } as const;
    expect(isInReconnectLinks(companyOf(row, null))).toBe(isOffered);
    expect(needsLink(row.state, row.failure, row.dependsOnReplaced) && row.linkUrl !== null).toBe(isOffered);
  },
);

/** A company that waits for another try. */
const ROW = { ...WAITING_ROW, reference: 'acme-1', tries: 1 };

test('while the first company waits for another try in step 5, its credential is supplied; later, it is replaced', () => {
  const step5 = stateAt('migrate-first-company', { counts: counts({ total: 9, waiting: 9 }) });
  const step6 = stateAt('complete-migration', {
    counts: counts({ total: 9, moved: 8, waiting: 1, retried: 1 }),
    firstCompany: firstCompany(),
  });
  const offered = [step5, step6].map((state) => {
    const view = viewOf(state);
    const { remedies, accepts } = companyOf(ROW, view);
    // The migration accepts each message in `accepts` now.
    const messages = view.actions.map(({ message }) => message);
    expect(accepts?.filter((message) => !messages.includes(message))).toEqual([]);
    return offeredRemedies(view, remedies).map(({ remedy }) => remedy);
  });
  expect(offered).toEqual([
    ['credentials', 'exclude'],
    ['replace-credential', 'exclude'],
  ]);
});

test('a deferred company says when it is tried again automatically, and its credential can be replaced', () => {
  const state = stateAt('complete-migration', {
    counts: counts({ total: 9, moved: 8, waiting: 1, deferred: 1 }),
    firstCompany: firstCompany(),
  });
  const row = { ...ROW, tries: 2, isDeferred: true, failureText: 'PlatformUnavailable', retryAt: new Date(AT) };
  const view = viewOf(state);
  const { problem, remedies } = companyOf(row, view);
  const why = problem?.split('; ')[0];
  expect(problem).toBe(`${why}; it will be tried again automatically after ${momentText(AT)}`);
  expect(offeredRemedies(view, remedies).map(({ remedy }) => remedy)).toEqual(['replace-credential', 'exclude']);
  const problemIn = (changes: Partial<typeof row>, changesOfView: Partial<typeof view> = {}) =>
    companyOf({ ...row, ...changes }, { ...view, ...changesOfView }).problem;
  expect(problemIn({}, { windows: 'every day' })).toBe(`${problem}, when a window is open`);
  expect(problemIn({}, { state: 'paused' })).toBe(`${problem}, once the migration has been resumed`);
  expect(problemIn({}, { state: 'paused', windows: 'every day' })).toBe(
    `${problem}, once the migration has been resumed and a window is open`,
  );
  // Before step 6, only the first company can move.
  const before = viewOf(stateAt('migrate-first-company', { counts: counts({ total: 9, waiting: 9, deferred: 1 }) }));
  expect(companyOf(row, before).problem).not.toContain('automatically');
  expect(problemIn({ failure: 'application-refused' })).toMatch(/; it will be tried again automatically after /);
  // It is not tried again before it has a credential.
  expect(problemIn({ credential: 'missing' })).toBe(why);
  expect(problemIn({ hasEnded: true })).not.toContain('automatically');
});

test('a company whose row is not checked yet has no remedies, because nothing is wrong with it', () => {
  const unchecked = { ...WAITING_ROW, heldBack: NOT_CHECKED };
  for (const view of [null, viewOf(stateAt('complete-migration', { firstCompany: firstCompany() }))])
    expect(companyOf(unchecked, view)).toMatchObject({ problem: NOT_CHECKED, remedies: [] });
});
