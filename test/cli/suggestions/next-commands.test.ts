/** Tests the commands that `ferry show` suggests. */
import { clientCommand, throughPortal } from '../../../cli/connections/client-portal';
import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import { typedTime } from '../../../cli/terminal/times';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { progressOf } from '../../../domain/progress/progress';
import type { SuggestedCompanies } from '../../../store';
import {
  AT,
  counts,
  decideAll,
  firstCompany,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';
import { assertValid } from '../captured-terminal';
import { commandOf } from '../parse-command';
import { CASES, filledIn } from './suggested-commands';
import {
  applications,
  CHECK_AGAIN,
  ID,
  kiteMigration,
  NOW,
  plan,
  SOMEBODY,
  step6,
  withApplication,
} from './suggested-states';

test.each(CASES)('nextCommands suggests the expected commands: %s', (_, state, commands, companies) => {
  const next = nextCommands(progressOf(plan, state), { ...NO_COMPANIES, ...companies }, NOW);
  expect(next.map(({ command }) => command)).toEqual(commands);
});

test.each([
  'service-refuses',
  'key-not-administrator',
  'no-room',
  'account-expires',
  'platform-disabled',
  'application-missing',
  'application-environment',
  'application-of-another-migration',
  'application-differs',
  'organization-connected',
  'organization-open-elsewhere',
  'no-managed-route',
  'no-self-service-route',
  'no-companies',
  'name-empty',
  'spreadsheet-damage',
] as const)('nextCommands suggests another check only together with an action that must come first: %s', (code) => {
  const state = stateAt('supply-details', { preflight: withApplication('kite-app', code) });
  for (const named of [
    NO_COMPANIES,
    { ...NO_COMPANIES, applications: applications('acme-app', kiteMigration('kite-app')) },
  ]) {
    for (const { command, first } of nextCommands(progressOf(plan, state), named, NOW)) {
      if (command === CHECK_AGAIN) expect(first).toEqual(expect.any(String));
    }
  }
});

test('in self-service, the command that repeats the check says so, because its name does not', () => {
  const state = stateAt('supply-details', { preflight: withApplication('kite-app', 'platform-disabled') });
  const progress = { ...progressOf(plan, state), route: 'self-service' } as const;
  expect(nextCommands(progress, NO_COMPANIES, NOW)).toContainEqual(
    expect.objectContaining({
      command: expect.stringContaining(`ferry retry ${ID} --all --as client`) as string,
      first: 'enable the platform in the account',
      does: 'checks the supplied details again',
    }),
  );
});

test('under the four-eyes rule, an approval does not name a person whose approval would be refused', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('client'));
  const progress = progressOf(plan, proposed);
  const by = proposed.proposal?.by ?? '';
  const commandsOf = (fourEyes: { readonly suppliers: readonly string[] } | null): readonly string[] =>
    nextCommands({ ...progress, fourEyes }, NO_COMPANIES, NOW).map(({ command }) => command);
  const approve = `ferry approve ${ID} schedule`;
  expect(commandsOf(null)).toEqual([`${approve} --as client --by ${by}`, approve]);
  expect(commandsOf({ suppliers: [] })).toEqual([
    `${approve} --as client --by "your name"`,
    `${approve} --by "your name"`,
  ]);
});

test('if the four-eyes rule excludes every approver of a role, another approver is added instead of an approval', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('client'));
  const by = proposed.proposal?.by ?? '';
  const approvers = [
    { role: 'client', by, publicKey: 'a' },
    { role: 'support', by: 'Sam', publicKey: 'b' },
  ] as const;
  const signing = { approvers, mustSign: ['client', 'support'] } as const;
  const progress = { ...progressOf(plan, proposed), fourEyes: { suppliers: [] }, signing };
  expect(nextCommands(progress, NO_COMPANIES, NOW)).toEqual([
    {
      who: 'support',
      command: `ferry approver add ${ID} "client:name:key"`,
      first: `another person at the client creates a key with: ferry keys create; for the portal, invite this person with: ferry invite ${ID} --name "name of the person"`,
    },
    { who: 'support', command: `ferry approve ${ID} schedule --by "your name"` },
  ]);
});

test.each(CASES)('nextCommands suggests a command to every role that must act: %s', (_, state) => {
  const progress = progressOf(plan, state);
  const roles = nextCommands(progress, NO_COMPANIES, NOW).map(({ who }) => who);
  for (const role of progress.waitingFor.roles) {
    // Problems with the account concern the client too, but only support can fix them.
    const canBeSupport = progress.step === 'supply-details' && role === 'client';
    expect(roles).toContain(canBeSupport && !roles.includes('client') ? 'support' : role);
  }
});

const AGAIN = `ferry first-company ${ID} acme-4 --reason "why"`;
const REPLACE = `ferry replace-credential ${ID} new-credentials.csv`;
test.each([
  [
    'reauthorization-required',
    [
      [REPLACE, 'tries acme-4 again with a new credential from the client'],
      [AGAIN, 'tries acme-4 again; helps only once its end customer has reconnected'],
    ],
  ],
  ['wrong-organization', [[REPLACE, 'tries acme-4 again with a new credential from the client']]],
  ['incomplete', [[AGAIN, 'syncs and checks acme-4 again']]],
  ['refused', [[AGAIN, 'tries acme-4 again with the same credential']]],
] as const)('after the first company has failed, each command says what it does: %s', (failure, commands) => {
  const state = stateAt('migrate-first-company', {
    counts: counts({ total: 9, waiting: 8, failed: 1 }),
    firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed', failure }),
  });
  expect(nextCommands(progressOf(plan, state), { ...NO_COMPANIES, firstCandidate: 'acme-2' }, NOW)).toEqual([
    { who: 'support', command: `ferry exceptions ${ID}` },
    ...commands.map(([command, does]) => ({ who: 'support', command, does })),
    {
      who: 'support',
      command: `ferry first-company ${ID} acme-2 --reason "why"`,
      does: 'lets acme-2 go first instead',
    },
  ]);
});

test('if companies have failed, the command that resumes says that these failures are then accepted', () => {
  const resumeAfter = (failed: number, route: 'managed' | 'self-service') => {
    const stopReason = 'key-refused';
    const state = step6({ failed, waiting: 6 }, { pause: { reason: 'why', by: null, stopReason, at: AT } });
    return nextCommands({ ...progressOf(plan, state), route }, NO_COMPANIES, NOW).at(-1)?.does;
  };
  for (const route of ['managed', 'self-service'] as const) {
    expect(resumeAfter(3, route)).toBe(
      'continues; earlier failures no longer count towards the limits at which the migration pauses itself',
    );
    expect(resumeAfter(0, route)).toBeUndefined();
  }
});

test('a first company that was left out is not tried again, so only another company is suggested', () => {
  const state = stateAt('migrate-first-company', {
    counts: counts({ total: 9, waiting: 8, excluded: 1 }),
    firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed', failure: null }),
  });
  const commandsIf = (firstLeftOut: boolean) =>
    nextCommands(progressOf(plan, state), { ...NO_COMPANIES, firstLeftOut, firstCandidate: 'acme-2' }, NOW).map(
      ({ command }) => command,
    );
  const other = `ferry first-company ${ID} acme-2 --reason "why"`;
  expect(commandsIf(true)).toEqual([other]);
  expect(commandsIf(false)).toEqual([AGAIN, other]);
});

test('if no other company is waiting, none is suggested to go first', () => {
  const suggestedIf = (firstLeftOut: boolean) => {
    const left = firstLeftOut ? { excluded: 9 } : { moved: 8, failed: 1 };
    const state = stateAt('migrate-first-company', {
      counts: counts({ total: 9, ...left }),
      firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed', failure: 'refused' }),
    });
    const companies = { ...NO_COMPANIES, firstUnconfirmed: false, firstLeftOut };
    return nextCommands(progressOf(plan, state), companies, NOW).map(({ command }) => command);
  };
  expect(suggestedIf(false)).toEqual([`ferry exceptions ${ID}`, AGAIN]);
  expect(suggestedIf(true)).toEqual([
    `ferry amend ${ID} companies.csv --as client --by Cleo`,
    `ferry cancel ${ID} --reason "why"`,
  ]);
});

test('without the ledger, no command claims that no company is ready to go first', () => {
  const state = stateAt('migrate-first-company', {
    counts: counts({ total: 9, waiting: 8, failed: 1 }),
    firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }),
  });
  const listing = (companies: SuggestedCompanies) =>
    nextCommands(progressOf(plan, state), companies, NOW).find(({ command }) => command.startsWith('ferry companies'));
  expect(listing(NO_COMPANIES)?.does).toBe('lists the companies to choose from');
  expect(listing({ ...NO_COMPANIES, firstUnconfirmed: false })?.does).toBe(
    'lists the companies that have not moved yet; no other company is ready to go first (each needs a usable credential and the confirmation that syncing is off, and must not be held back)',
  );
});

test.each(['managed', 'self-service'] as const)(
  '%s: a company that waits for its next try is an exception',
  (route) => {
    const progress = { ...progressOf(plan, step6({ waiting: 1, moved: 8, retried: 1 })), route };
    expect(nextCommands(progress, NO_COMPANIES, NOW).map(({ command }) => command)).toContain(`ferry exceptions ${ID}`);
  },
);

test('in self-service, commands name the person who has supplied the manifest', () => {
  const pause = { reason: 'why', by: 'Mia', stopReason: null, at: AT };
  const state = stateAt('supply-details', { pause });
  const { command } =
    nextCommands({ ...progressOf(plan, state), route: 'self-service' }, NO_COMPANIES, NOW).at(-1) ?? {};
  expect(command).toBe(`ferry resume ${ID} --as client --by Mia`);
});

test('in self-service, a pause by support can be lifted by support and by the client', () => {
  const resumes = (role: 'support' | 'client') => {
    const pause = { reason: 'why', by: 'Sam', role, stopReason: null, at: AT };
    const progress = progressOf(plan, {
      ...step6({ waiting: 1 }, { pause }),
      route: 'self-service',
    });
    expect(progress.waitingFor.what).toBe('resume the migration once the pause is no longer needed');
    return nextCommands(progress, NO_COMPANIES, NOW).flatMap(({ who, command }) =>
      command.includes('resume') ? who : [],
    );
  };
  expect(resumes('support')).toEqual(['support', 'client']);
  expect(resumes('client')).toEqual(['client']);
});

test('before the application of another client is supplied, its tokens are checked; otherwise, an account is needed', () => {
  const state = stateAt('supply-details', {
    preflight: withApplication('kite-app', 'application-of-another-migration'),
  });
  const companies = { ...NO_COMPANIES, applications: applications(null, kiteMigration('kite-app')) };
  expect(nextCommands(progressOf(plan, state), companies, NOW).map(({ first }) => first)).toContain(
    'make sure that kite-app (production) also obtained the tokens of this client; if it did not, move this client to its own account (docs/deploying.md)',
  );
});

test('every suggested command is valid as printed', async () => {
  for (const command of new Set(CASES.flatMap(([, , each]) => each))) await assertValid(filledIn(command));
});

test('if the client uses the portal, commands of ferry --portal are suggested to it, and they are valid', async () => {
  const portal = 'https://portal.example';
  const suggested = CASES.flatMap(([, state, , companies]) =>
    throughPortal(nextCommands(progressOf(plan, state), { ...NO_COMPANIES, ...companies }, NOW), portal),
  );
  expect(suggested.filter(({ command }) => command.includes('--as client'))).toEqual([]);
  const inPortal = suggested.filter(({ command }) => command.startsWith(`ferry --portal ${portal} `));
  expect(inPortal.every(({ who }) => who === 'client')).toBe(true);
  const commands = [...new Set(inPortal.map(({ command }) => command))];
  expect(commands).toContain(`ferry --portal ${portal} approve ${ID} schedule`);
  for (const command of commands)
    expect([command, await commandOf(filledIn(command))]).toEqual([command, expect.any(String)]);
  // The portal does not have `amend`, so support runs this command.
  expect(
    suggested.filter(({ command }) => command.startsWith('ferry amend')).every(({ who }) => who === 'support'),
  ).toBe(true);
  expect(clientCommand(`ferry approve ${ID} schedule`, portal)).toBe(`ferry approve ${ID} schedule`);
  expect(clientCommand(`ferry approve ${ID} schedule ${SOMEBODY}`, null)).toBe(
    `ferry approve ${ID} schedule ${SOMEBODY}`,
  );
});

test('a rejected handover is cleared up before it is signed off', () => {
  const rejected = decideAll(step6({ moved: 9 }), reject('complete-migration', 'client'));
  const next = nextCommands(progressOf(plan, rejected), NO_COMPANIES, new Date());
  expect(next.map(({ first }) => first)).toEqual([
    `resolve the problem for which the handover was rejected (only if companies are missing from the manifest, add them with: ferry amend ${ID} companies.csv)`,
    `resolve the problem for which the handover was rejected (only if companies are missing from the manifest, add them with: ferry amend ${ID} companies.csv)`,
  ]);
});

test('the suggested start is the opening of an agreed window', () => {
  const sunday = { days: ['sun'], from: '21:00', to: '23:00', timeZone: 'UTC' } as const;
  const state = stateAt('schedule', { limits: { ...DEFAULT_LIMITS, windows: [sunday] } });
  const commands = (now: string) => nextCommands(progressOf(plan, state), NO_COMPANIES, new Date(now));
  const local = (iso: string) => typedTime(new Date(iso));
  expect(commands('2026-03-06T12:00:00.000Z')[0]?.command).toBe(
    `ferry propose-time ${ID} "${local('2026-03-08T21:00:00.000Z')}"`,
  );
  // The open window is not suggested, because its opening has passed.
  expect(commands('2026-03-08T22:00:00.000Z')[0]?.command).toContain(local('2026-03-15T21:00:00.000Z'));
});
