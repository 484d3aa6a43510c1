/** The commands that `ferry show` suggests until the first company has been approved. */
import { exampleTime } from '../../../cli/terminal/times';
import { OTHER_CLIENTS_APPLICATION } from '../reporting/other-clients-application';
import {
  approve,
  counts,
  decideAll,
  firstCompany,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';
import {
  ID,
  step4,
  step5,
  problems,
  withApplication,
  kiteMigration,
  applications,
  CHECK_AGAIN,
  NOW,
  SOMEBODY,
  CLIENT,
  type Situation,
} from './suggested-states';

export const BEFORE_MOVES: readonly Situation[] = [
  ['details being checked', stateAt('supply-details', { preflight: null }), []],
  ['details to accept', stateAt('supply-details'), [`ferry approve ${ID} supply-details`]],
  [
    "details to accept, while the registered application is another client's",
    OTHER_CLIENTS_APPLICATION,
    [
      `ferry application ${ID} --client-id "client id" --environment production ${SOMEBODY}`,
      `ferry approve ${ID} supply-details`,
    ],
  ],
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
    'no application, although another migration of the client uses one',
    stateAt('supply-details', { preflight: problems('application-missing') }),
    [CHECK_AGAIN, `ferry application ${ID} --client-id "client id" --environment production ${SOMEBODY}`],
    { applications: applications(null, { ...kiteMigration('acme-app'), client: 'acme' }) },
  ],
  [
    'no application, although another client uses one',
    stateAt('supply-details', { preflight: problems('application-missing') }),
    [`ferry application ${ID} --client-id "client id" --environment production ${SOMEBODY}`],
    { applications: applications(null, kiteMigration('kite-app')) },
  ],
  [
    'the supplied application, which was not registered, is also used by another migration of the client',
    stateAt('supply-details', { preflight: withApplication('old-app', 'application-differs') }),
    [CHECK_AGAIN, `ferry application ${ID} --client-id acme-app --environment production ${SOMEBODY}`],
    { applications: applications('acme-app', { ...kiteMigration('acme-app'), client: 'acme' }) },
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
];
