/** Migrations in many states, and the commands that `ferry show` suggests in each of them. */
import type { NamedInCommands } from '../../../cli/shared/next-commands';
import { exampleTime } from '../../../cli/terminal/times';
import type { Counts } from '../../../domain/companies/company-state';
import type { StopReason } from '../../../domain/companies/failures';
import type { FindingCode } from '../../../domain/companies/finding';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type {
  ApplicationsOfMoved,
  MigrationApplication,
  MigrationApplications,
} from '../../../domain/preflight/applications';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  migrationPlan,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';

export const ID = 'acme.quickbooks-online';
export const plan = migrationPlan({ migrationId: ID });
const NIGHT = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'UTC' } as const;

const step4 = (changes: Partial<Counts>) =>
  stateAt('disable-syncing', { counts: counts({ total: 9, waiting: 9, ...changes }) });
const step5 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('migrate-first-company', { counts: counts({ total: 9, waiting: 9, ...changes }), ...more });
export const step6 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('complete-migration', { counts: counts({ total: 9, ...changes }), ...more });
const pausedBy = (stop: StopReason | null) =>
  step6({ failed: 3, waiting: 6 }, { pause: { reason: 'why', by: null, stopReason: stop, at: AT } });
const problems = (...problemCodes: ReturnType<typeof preflight>['problemCodes']) =>
  preflight({ problems: problemCodes, problemCodes });

export const withApplication = (clientId: string, code: FindingCode) =>
  preflight({
    ...{ problems: [code], problemCodes: [code] },
    application: { clientId, environment: 'production', suppliedBy: null },
  });
export const kiteMigration = (clientId: string, environment = 'production'): MigrationApplication => ({
  ...{ migrationId: 'kite.quickbooks-online', client: 'kite', isSupplied: true },
  application: { clientId, environment },
});
export const applications = (supplied: string | null, ...others: MigrationApplication[]): MigrationApplications => ({
  ...{ migrationId: ID, client: 'acme', others },
  supplied: supplied === null ? null : { clientId: supplied, environment: 'production', suppliedBy: 'Cleo' },
});

/** The application `old app`, which was replaced by `new-app` after companies had been moved with it. */
const replacedApplication = (companies: number, withNew: number): ApplicationsOfMoved => {
  const replaced = { application: { clientId: 'old app', environment: 'sandbox' }, companies, references: [] };
  const registered = { clientId: 'new-app', environment: 'sandbox' };
  const moved = [replaced, { application: registered, companies: withNew, references: [] }];
  return { moved, replaced: [replaced], registered };
};

export const CHECK_AGAIN = `ferry reject ${ID} supply-details --reason "check again"`;
export const NOW = new Date(AT);
export const SOMEBODY = '--as client --by "your name"';
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
    'the secret that the portal has sealed cannot be opened',
    stateAt('supply-details', { preflight: problems('application-not-registered') }),
    [`ferry application ${ID} --client-id acme-app --environment production ${SOMEBODY}`],
    { applications: applications('acme-app'), isInPortal: true },
  ],
  [
    "the service refuses the workers' key, so a sealed application is not registered",
    stateAt('supply-details', { preflight: problems('service-refuses') }),
    [CHECK_AGAIN],
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
    step5({ unconfirmed: 4, unconfirmedInFirstWave: 0, unconfirmedInNextWave: 4, withoutCredential: 0 }),
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
    'paused windows',
    step6({ waiting: 3, moved: 6 }, { limits: { ...DEFAULT_LIMITS, windows: [NIGHT] } }),
    [`ferry schedule resume ${ID}`, `ferry go-nogo ${ID}`, `ferry watch ${ID}`],
    { areWindowsPaused: true },
  ],
  [
    'companies that were added while others move',
    step6({ waiting: 3, unconfirmed: 1, unconfirmedInFirstWave: 1, moved: 6 }),
    [`ferry confirm-sync-disabled ${ID} C-9 ${CLIENT}`, `ferry watch ${ID}`],
    { unconfirmed: ['C-9'] },
  ],
  [
    'companies that were added before the approval of the first company',
    step5({ unconfirmed: 1, unconfirmedInFirstWave: 1, moved: 1, waiting: 8 }, { firstCompany: firstCompany() }),
    [`ferry approve ${ID} migrate-first-company`, `ferry confirm-sync-disabled ${ID} C-9 ${CLIENT}`],
    { unconfirmed: ['C-9'] },
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
    step6({ waiting: 5, unconfirmed: 3, unconfirmedInFirstWave: 0, unconfirmedInNextWave: 3, syncing: 2, moved: 2 }),
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
  ['a migration paused by a person', pausedBy(null), [`ferry resume ${ID}`, `ferry exceptions ${ID}`]],
  [
    'a migration paused by a person, with a first company to approve',
    step5(
      { moved: 1, waiting: 8 },
      { firstCompany: firstCompany(), pause: { reason: 'why', by: 'Sam', stopReason: null, at: AT } },
    ),
    [`ferry resume ${ID}`, `ferry approve ${ID} migrate-first-company`],
  ],
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
  [
    'an application that was replaced after companies had been moved with it',
    step6({ waiting: 3, moved: 6 }),
    [`ferry application ${ID} --client-id 'old app' --environment sandbox`, `ferry watch ${ID}`],
    { applicationsOfMoved: replacedApplication(4, 2) },
  ],
  [
    'a replaced application on which fewer companies depend than on the registered application',
    step6({ waiting: 3, moved: 6 }),
    [`ferry watch ${ID}`],
    { applicationsOfMoved: replacedApplication(2, 4) },
  ],
  ['a completed migration', step6({ moved: 9 }, { closed: 'completed' }), []],
];

/** The situations. The last element of each holds the known companies and applications, or `{}`. */
export const CASES = SITUATIONS.map(
  ([name, state, commands, companies = {}]) => [name, state, commands, companies] as const,
);

/** Replaces the placeholders in a command, as a person does, because ferry refuses them. */
export const filledIn = (command: string): string =>
  command.replace('"your name"', 'Cleo').replace('"client id"', 'AB1');
