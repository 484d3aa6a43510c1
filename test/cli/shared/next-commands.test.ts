/** Tests the commands that `ferry show` suggests. */
import { clientCommand, throughPortal } from '../../../cli/shared/client-portal';
import type { NamedInCommands } from '../../../cli/shared/next-commands';
import { nextCommands, NO_COMPANIES } from '../../../cli/shared/next-commands';
import type { Remedy } from '../../../domain/companies/remedies';
import { otherReferencesText, remedyCommand } from '../../../cli/shared/remedy-commands';
import { exampleTime, typedTime } from '../../../cli/terminal/times';
import type { FindingCode } from '../../../domain/companies/finding';
import type { MigrationApplication, MigrationApplications } from '../../../domain/preflight/applications';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import type { StopReason } from '../../../domain/companies/failures';
import type { Counts } from '../../../domain/companies/company-state';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  migrationPlan,
  preflight,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';
import { commandOf } from '../parse-command';
import { pasted } from '../captured-terminal';

const ID = 'acme.quickbooks-online';
const plan = migrationPlan({ migrationId: ID });
const NIGHT = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'UTC' } as const;

const step4 = (changes: Partial<Counts>) =>
  stateAt('disable-syncing', { counts: counts({ total: 9, waiting: 9, ...changes }) });
const step5 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('migrate-first-company', { counts: counts({ total: 9, waiting: 9, ...changes }), ...more });
const step6 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('complete-migration', { counts: counts({ total: 9, ...changes }), ...more });
const pausedBy = (stop: StopReason | null) =>
  step6({ failed: 3, waiting: 6 }, { pause: { reason: 'why', by: null, stopReason: stop, at: AT } });
const problems = (...problemCodes: ReturnType<typeof preflight>['problemCodes']) =>
  preflight({ problems: problemCodes, problemCodes });

const withApplication = (clientId: string, code: FindingCode) =>
  preflight({
    ...{ problems: [code], problemCodes: [code] },
    application: { clientId, environment: 'production', suppliedBy: null },
  });
const kiteMigration = (clientId: string, environment = 'production'): MigrationApplication => ({
  ...{ migrationId: 'kite.quickbooks-online', client: 'kite', isSupplied: true },
  application: { clientId, environment },
});
const applications = (supplied: string | null, ...others: MigrationApplication[]): MigrationApplications => ({
  ...{ migrationId: ID, client: 'acme', others },
  supplied: supplied === null ? null : { clientId: supplied, environment: 'production', suppliedBy: 'Cleo' },
});

const CHECK_AGAIN = `ferry reject ${ID} supply-details --reason "check again"`;
const NOW = new Date(AT);
const SOMEBODY = '--as client --by "your name"';
const CLIENT = '--as client --by Cleo';

const SITUATIONS: readonly (readonly [string, MigrationState, readonly string[], Partial<NamedInCommands>?])[] = [
  ['details being checked', stateAt('supply-details', { preflight: null }), []],
  ['details to accept', stateAt('supply-details'), [`ferry approve ${ID} supply-details`]],
  [
    'the sealed secret of the application cannot be opened',
    stateAt('supply-details', { preflight: problems('application-not-registered', 'application-missing') }),
    [`ferry application ${ID} --sealed secret.txt.sealed ${SOMEBODY}`],
  ],
  [
    'no application',
    stateAt('supply-details', { preflight: problems('application-missing') }),
    [`ferry application ${ID} --client-id "client id" --environment production ${SOMEBODY}`],
  ],
  [
    'the registered application is that of another client',
    stateAt('supply-details', { preflight: withApplication('kite-app', 'application-of-another-migration') }),
    [`ferry application ${ID} --client-id kite-app --environment production ${SOMEBODY}`],
    { applications: applications(null, kiteMigration('kite-app')) },
  ],
  [
    'another client uses another application',
    stateAt('supply-details', { preflight: withApplication('acme-app', 'application-of-another-migration') }),
    ['ferry show kite.quickbooks-online', CHECK_AGAIN],
    { applications: applications('acme-app', kiteMigration('kite-app')) },
  ],
  [
    'another migration of the client uses another application',
    stateAt('supply-details', { preflight: withApplication('acme-app', 'application-of-another-migration') }),
    [`ferry application ${ID} --client-id old-app --environment sandbox ${SOMEBODY}`],
    { applications: applications('acme-app', { ...kiteMigration('old-app', 'sandbox'), client: 'acme' }) },
  ],
  [
    'an application other than the supplied one is registered',
    stateAt('supply-details', { preflight: withApplication('kite-app', 'application-differs') }),
    [`ferry application ${ID} --client-id acme-app --environment production ${SOMEBODY}`],
    { applications: applications('acme-app') },
  ],
  [
    'an application other than the supplied one is registered, without the ledger',
    stateAt('supply-details', { preflight: withApplication('kite-app', 'application-differs') }),
    [`ferry application ${ID} --client-id "client id" --environment production ${SOMEBODY}`],
  ],
  [
    'a platform without a managed route',
    stateAt('supply-details', { preflight: problems('no-managed-route') }),
    [`ferry cancel ${ID} --reason "why"`],
  ],
  [
    'companies that cannot be moved as they are',
    stateAt('supply-details', {
      preflight: problems('organization-connected'),
      counts: counts({ total: 9, waiting: 9, unconfirmed: 8, heldBack: 1 }),
    }),
    [`ferry amend ${ID} companies.csv ${SOMEBODY}`, `ferry exceptions ${ID}`, CHECK_AGAIN],
  ],
  ['no room in the account', stateAt('supply-details', { preflight: problems('no-room') }), [CHECK_AGAIN]],
  [
    'no proposed time',
    stateAt('schedule'),
    [`ferry propose-time ${ID} "${exampleTime(NOW)}"`, `ferry propose-time ${ID} "${exampleTime(NOW)}" ${SOMEBODY}`],
  ],
  [
    'a time to approve',
    decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'support')),
    [`ferry approve ${ID} schedule ${SOMEBODY}`],
  ],
  [
    'the callback URL to add',
    stateAt('update-application'),
    [`ferry approve ${ID} update-application ${CLIENT}`, `ferry approve ${ID} update-application`],
  ],
  ['all companies to confirm', step4({ unconfirmed: 9 }), [`ferry confirm-sync-disabled ${ID} --all ${CLIENT}`]],
  [
    'the first wave to confirm, one company held back',
    step4({ unconfirmed: 8, unconfirmedInFirstWave: 4, heldBack: 1 }),
    [
      `ferry confirm-sync-disabled ${ID} --wave 1 ${CLIENT}`,
      `ferry amend ${ID} companies.csv ${CLIENT}`,
      `ferry exceptions ${ID}`,
    ],
    { unconfirmedWave: 1 },
  ],
  ['the first company not started', step5({}), [`ferry go-nogo ${ID}`]],
  ['missing credentials', step5({ withoutCredential: 9 }), [`ferry credentials ${ID} credentials.csv ${CLIENT}`]],
  [
    'a chosen first company without a credential',
    step5({ withoutCredential: 1 }, { requestedFirst: { reference: 'acme-7', notReady: true } }),
    [`ferry credentials ${ID} credentials.csv ${CLIENT}`, `ferry first-company ${ID} acme-2 --reason "why"`],
    { firstCandidate: 'acme-2' },
  ],
  [
    'missing credentials in the first wave, and a later wave',
    step5({ unconfirmed: 4, unconfirmedInNextWave: 4, withoutCredential: 2, waiting: 6 }),
    [`ferry credentials ${ID} credentials.csv ${CLIENT}`],
    { unconfirmedWave: 2 },
  ],
  [
    'the first company not started, and a later wave',
    step5({ unconfirmed: 4, unconfirmedInNextWave: 4, withoutCredential: 0 }),
    [`ferry go-nogo ${ID}`],
    { unconfirmedWave: 2 },
  ],
  [
    'a chosen first company of a later wave, which is not confirmed',
    step5({ unconfirmed: 4, unconfirmedInNextWave: 4 }, { requestedFirst: { reference: 'acme-7', notReady: true } }),
    [`ferry confirm-sync-disabled ${ID} acme-7 ${CLIENT}`, `ferry first-company ${ID} acme-2 --reason "why"`],
    { unconfirmedWave: 2, firstUnconfirmed: true, firstCandidate: 'acme-2' },
  ],
  [
    'a first company to choose after one has failed',
    step5({ waiting: 8, failed: 1 }, { firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }) }),
    [
      `ferry exceptions ${ID}`,
      `ferry first-company ${ID} acme-4 --reason "why"`,
      `ferry first-company ${ID} --reason "why" -- '-7 ; rm *'`,
    ],
    { firstCandidate: '-7 ; rm *' },
  ],
  [
    'a first company to choose, without information about the companies',
    step5({ waiting: 8, failed: 1 }, { firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }) }),
    [
      `ferry exceptions ${ID}`,
      `ferry first-company ${ID} acme-4 --reason "why"`,
      `ferry companies ${ID} --state not-moved-yet`,
    ],
  ],
  [
    'the first company to approve',
    step5({}, { firstCompany: firstCompany() }),
    [`ferry approve ${ID} migrate-first-company`],
  ],
  ['the first company being moved', step5({}, { firstCompany: firstCompany({ stage: 'importing' }) }), []],
  [
    'nothing left to move',
    step5({ waiting: 0, excluded: 9 }),
    [`ferry amend ${ID} companies.csv ${CLIENT}`, `ferry cancel ${ID} --reason "why"`],
  ],
  ['companies being moved', step6({ syncing: 3, moved: 6 }), [`ferry watch ${ID}`]],
  [
    'a future window',
    step6({ waiting: 3, moved: 6 }, { limits: { ...DEFAULT_LIMITS, windows: [NIGHT] } }),
    [`ferry go-nogo ${ID}`, `ferry watch ${ID}`],
  ],
  [
    'the next wave to confirm',
    step6({ waiting: 3, unconfirmed: 3, moved: 6 }),
    [`ferry confirm-sync-disabled ${ID} --wave 2 ${CLIENT}`, `ferry watch ${ID}`],
    { unconfirmedWave: 2 },
  ],
  [
    'added companies without a wave to confirm',
    step6({ waiting: 2, unconfirmed: 2, moved: 7 }),
    [`ferry confirm-sync-disabled ${ID} acme-8 'acme 9' ${CLIENT}`, `ferry watch ${ID}`],
    { unconfirmed: ['acme-8', 'acme 9'] },
  ],
  [
    'a wave being moved, and a later one',
    step6({ waiting: 5, unconfirmed: 3, unconfirmedInNextWave: 3, syncing: 2, moved: 2 }),
    [`ferry watch ${ID}`],
    { unconfirmedWave: 2 },
  ],
  [
    'companies to confirm, without information about them',
    step6({ waiting: 3, unconfirmed: 3, moved: 6 }),
    [`ferry companies ${ID} --state not-moved-yet`, `ferry watch ${ID}`],
  ],
  [
    'an added company that is held back, a missing credential and an unknown outcome',
    step6({ waiting: 2, heldBack: 1, withoutCredential: 1, outcomeUnknown: 1, moved: 6 }),
    [
      `ferry credentials ${ID} credentials.csv ${CLIENT}`,
      `ferry amend ${ID} companies.csv ${CLIENT}`,
      `ferry exceptions ${ID}`,
      `ferry watch ${ID}`,
    ],
  ],
  [
    'a handover to sign off, with exceptions',
    step6({ moved: 8, failed: 1 }),
    [`ferry exceptions ${ID}`, `ferry sign-off ${ID}`, `ferry sign-off ${ID} ${CLIENT}`],
  ],
  ['a migration paused by a person', pausedBy(null), [`ferry resume ${ID}`]],
  [
    'a migration stopped by too many failures',
    pausedBy('too-many-failures'),
    [`ferry exceptions ${ID}`, `ferry resume ${ID}`],
  ],
  [
    'a migration stopped by the platform',
    pausedBy('application-refused'),
    [
      `ferry exceptions ${ID}`,
      `ferry application ${ID} --client-id "client id" --environment production ${CLIENT}`,
      `ferry resume ${ID}`,
    ],
  ],
  ['a completed migration', step6({ moved: 9 }, { closed: 'completed' }), []],
];

const CASES = SITUATIONS.map(([name, state, commands, companies = {}]) => [name, state, commands, companies] as const);

const REMEDIES = ['retry', 'relink', 'replace-credential', 'credentials', 'skip', 'amend', 'exclude'] as const;

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
] as const)('nextCommands repeats the check only after something has been done about it: %s', (code) => {
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

test.each(CASES)('nextCommands suggests a command to every role that must act: %s', (_, state) => {
  const progress = progressOf(plan, state);
  const roles = nextCommands(progress, NO_COMPANIES, NOW).map(({ who }) => who);
  for (const role of progress.waitingFor.roles) {
    // Problems with the account concern the client too, but only support can fix them.
    const canBeSupport = progress.step === 'supply-details' && role === 'client';
    expect(roles).toContain(canBeSupport && !roles.includes('client') ? 'support' : role);
  }
});

test('in self-service, commands name the person who has supplied the manifest', () => {
  const pause = { reason: 'why', by: 'Mia', stopReason: null, at: AT };
  const state = stateAt('supply-details', { pause });
  const { command } =
    nextCommands({ ...progressOf(plan, state), route: 'self-service' }, NO_COMPANIES, NOW).at(-1) ?? {};
  expect(command).toBe(`ferry resume ${ID} --as client --by Mia`);
  const migration = { id: ID, route: 'self-service', suppliedBy: "Mia O'Neil" } as const;
  expect(remedyCommand('retry', migration, ['C-1'])).toBe(`ferry retry ${ID} C-1 --as client --by 'Mia O'\\''Neil'`);
});

/** Replaces the placeholders, as a person does, because ferry refuses them. */
const filledIn = (command: string): string => command.replace('"your name"', 'Cleo').replace('"client id"', 'AB1');

test('every suggested command is valid as printed', async () => {
  const migrations = (['managed', 'self-service'] as const).map((route) => ({
    id: ID,
    route,
    suppliedBy: "Mia O'Neil",
  }));
  const remedies = REMEDIES.flatMap((remedy) =>
    migrations.flatMap((migration) => [
      remedyCommand(remedy, migration, ['C-1', "O'Neill; rm *"]),
      remedyCommand(remedy, migration, ['--all']),
      remedyCommand(
        remedy,
        migration,
        Array.from({ length: 60 }, (_, index) => `C-${index}`),
      ),
    ]),
  );
  for (const command of new Set([...CASES.flatMap(([, , each]) => each), ...remedies])) {
    const { args, exitCode, err } = await pasted(filledIn(command));
    expect([command, args.filter((word) => /^[A-Z]+$|[<>]|\.\.\.$/.test(word))]).toEqual([command, []]);
    // The command fails because nothing is running, but not with a usage error.
    expect([command, exitCode, err]).toEqual([command, 1, err]);
  }
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
  // In such a migration, only support can add and correct companies.
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
    `find out why the handover was rejected, and resolve the problem (missing companies: ferry amend ${ID} companies.csv)`,
    `find out why the handover was rejected, and resolve the problem (missing companies: ferry amend ${ID} companies.csv)`,
  ]);
});

test('a command for many companies names references, not a file that does not exist', () => {
  const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
  const many = Array.from({ length: 51 }, (_, index) => `C-${index}`);
  expect(remedyCommand('retry', migration, many)).toBe(`ferry retry ${ID} --all`);
  expect(remedyCommand('skip', migration, many)).toBe(`ferry skip ${ID} ${many.slice(0, 50).join(' ')} --reason "why"`);
});

test.each<[Remedy, references: number, companies: number, string | null]>([
  ['skip', 50, 50, null],
  ['skip', 51, 51, 'also specify 1 other company'],
  // Of a large group, only the first references are known.
  ['exclude', 51, 80, 'also specify 30 other companies'],
  ['retry', 51, 80, null],
  ['replace-credential', 51, 80, null],
])(
  'a command to %s that has %d references of %d companies says how many it lacks',
  (remedy, references, companies, text) => {
    const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
    const known = Array.from({ length: references }, (_, index) => `C-${index}`);
    expect(otherReferencesText(remedyCommand(remedy, migration, known), known, companies)).toBe(text);
  },
);

test('a command with a file of references lacks none', () => {
  const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
  const known = Array.from({ length: 60 }, (_, index) => `-${index}`);
  expect(otherReferencesText(remedyCommand('skip', migration, known), known)).toBeNull();
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
