/** States of migrations, and the decisions that the portal offers to the client in each of them. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import {
  AT,
  counts,
  decideAll,
  firstCompany,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';

export const first = (changes: Partial<MigrationState> = {}): MigrationState =>
  stateAt('migrate-first-company', changes);
export const last = (changes: Parameters<typeof counts>[0], more: Partial<MigrationState> = {}): MigrationState =>
  stateAt('complete-migration', { counts: counts(changes), firstCompany: firstCompany(), ...more });
export const selfService = (
  step: 'supply-details' | 'complete-migration',
  changes: Partial<MigrationState>,
): MigrationState => stateAt(step, { route: 'self-service', ...changes });
export const paused = (stopReason: 'too-many-failures' | null) => ({
  ...(stopReason === null
    ? { pausesByPeople: [{ reason: 'a test', by: 'Cleo', role: 'client' as const, stopReason, at: AT }] }
    : { pause: { reason: 'a test', by: null, stopReason, at: AT } }),
});

/** The decisions for which the migration is waiting (`isExpected`) begin with an asterisk. */
export const STATES: readonly (readonly [name: string, state: MigrationState, actions: readonly string[]])[] = [
  [
    'the application is missing',
    stateAt('supply-details', { preflight: preflight({ problems: ['a'], problemCodes: ['application-missing'] }) }),
    [
      '*applicationSupplied',
      'approve update-application',
      'confirmSyncDisabled',
      'manifestSupplied',
      'reject supply-details',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'the manifest is missing',
    stateAt('supply-details', {
      preflight: preflight({ companies: 0, problems: ['a'], problemCodes: ['no-companies'] }),
      counts: counts({}),
    }),
    [
      '*manifestSupplied',
      'approve update-application',
      'applicationSupplied',
      'reject supply-details',
      'pause',
      'cancel',
    ],
  ],
  [
    'a company was left out before the details are accepted',
    stateAt('supply-details', {
      preflight: preflight(),
      counts: counts({ total: 2, waiting: 1, unconfirmed: 1, excluded: 1 }),
    }),
    [
      'approve update-application',
      'confirmSyncDisabled',
      'applicationSupplied',
      'reject supply-details',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'no start is proposed',
    stateAt('schedule'),
    [
      '*proposeTime',
      'approve update-application',
      'confirmSyncDisabled',
      'reject supply-details',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'support has proposed a start',
    decideAll(stateAt('schedule'), proposeTime('support')),
    [
      '*approve schedule',
      'approve update-application',
      'proposeTime',
      'confirmSyncDisabled',
      'reject schedule',
      'reject supply-details',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'the callback URL is to be confirmed',
    stateAt('update-application'),
    [
      '*approve update-application',
      'proposeTime',
      'confirmSyncDisabled',
      'reject schedule',
      'reject supply-details',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'syncing is to be turned off',
    stateAt('disable-syncing'),
    [
      '*confirmSyncDisabled',
      'proposeTime',
      'reject schedule',
      'reject supply-details',
      'reject update-application',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'credentials are missing',
    first({ counts: counts({ total: 3, waiting: 3, withoutCredential: 3 }) }),
    [
      '*credentialsSupplied',
      'proposeTime',
      'reject schedule',
      'reject supply-details',
      'reject update-application',
      'reject disable-syncing',
      'exclude',
      'pause',
      'cancel',
    ],
  ],
  [
    'a later wave is to be confirmed',
    last({ total: 9, waiting: 4, moved: 5, unconfirmed: 4, unconfirmedInNextWave: 2 }),
    ['*confirmSyncDisabled', 'exclude', 'pause', 'cancel'],
  ],
  [
    'everything has an outcome',
    last({ total: 9, moved: 8, failed: 1, mustReconnect: 1 }),
    ['*approve complete-migration', 'reject complete-migration', 'replaceCredential', 'pause', 'cancel'],
  ],
  [
    'a person has paused it',
    last({ total: 9, waiting: 4, moved: 5 }, paused(null)),
    ['*resume', 'credentialsSupplied', 'exclude', 'cancel'],
  ],
  [
    'it is paused, and credentials are missing',
    last({ total: 9, waiting: 4, moved: 5, withoutCredential: 3 }, paused(null)),
    ['*credentialsSupplied', '*resume', 'exclude', 'cancel'],
  ],
  [
    'it has paused itself',
    last({ total: 9, failed: 5, moved: 4 }, paused('too-many-failures')),
    ['approve complete-migration', 'reject complete-migration', 'replaceCredential', 'pause', 'cancel'],
  ],
  ['it is completed', last({ total: 9, moved: 9 }, { closed: 'completed' }), []],
  [
    'self-service has problems',
    selfService('supply-details', { preflight: preflight({ problems: ['a'], problemCodes: ['no-room'] }) }),
    ['*retry', 'exclude', 'pause', 'adjust', 'cancel'],
  ],
  [
    'self-service has failures',
    selfService('complete-migration', { counts: counts({ total: 9, moved: 6, failed: 3, mustReconnect: 1 }) }),
    ['*retry', '*relink', '*replaceCredential', '*skip', 'pause', 'cancel'],
  ],
  [
    'self-service has paused itself',
    selfService('complete-migration', {
      counts: counts({ total: 9, moved: 6, failed: 3 }),
      ...paused('too-many-failures'),
    }),
    ['*resume', 'retry', 'replaceCredential', 'skip', 'pause', 'cancel'],
  ],
];
