/** The commands that `ferry show` suggests once the first company has moved. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { AT, decideAll, firstCompany, proposeTime, stateAt } from '../../support/migrations/migration-states';
import { ID, NIGHT, step5, step6, pausedBy, replacedApplication, CLIENT, type Situation } from './suggested-states';

const APPLICATION = {
  kind: 'application-supplied',
  role: 'client',
  clientId: 'app',
  environment: 'production',
} as const;

/** Returns the state after the check of the changed details. */
const checked = (state: MigrationState): MigrationState => ({ ...state, changesChecked: state.changes });

export const WHILE_MOVING: readonly Situation[] = [
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
  [
    'a migration paused by a person',
    pausedBy(null),
    [`ferry resume ${ID}`, `ferry resume ${ID} ${CLIENT}`, `ferry exceptions ${ID}`],
  ],
  [
    'a migration paused by a person, with a first company to approve',
    step5(
      { moved: 1, waiting: 8 },
      { firstCompany: firstCompany(), pause: { reason: 'why', by: 'Sam', stopReason: null, at: AT } },
    ),
    [`ferry resume ${ID}`, `ferry resume ${ID} ${CLIENT}`, `ferry approve ${ID} migrate-first-company`],
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
    'a migration stopped by the platform, whose application was supplied again',
    checked(decideAll(pausedBy('application-refused'), APPLICATION)),
    [`ferry resume ${ID}`, `ferry exceptions ${ID}`],
  ],
  [
    'a migration stopped by the platform, whose corrected details are accepted',
    checked(
      decideAll(
        stateAt('schedule', {
          pause: { reason: 'why', by: null, stopReason: 'application-refused', at: AT },
          replacesRejected: true,
        }),
        proposeTime('client'),
        APPLICATION,
      ),
    ),
    [`ferry resume ${ID}`, `ferry approve ${ID} schedule ${CLIENT}`, `ferry approve ${ID} schedule`],
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
