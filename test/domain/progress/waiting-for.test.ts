/** Tests who has to act in each state of a migration, and what this person has to do. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Role } from '../../../domain/migration/steps';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import {
  approve,
  AT,
  counts,
  decideAll,
  type DecisionDraft,
  firstCompany,
  preflight,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

const scheduled = decideAll(stateAt('schedule'), proposeTime('support'));
const first = (changes: Parameters<typeof firstCompany>[0]): MigrationState =>
  stateAt('migrate-first-company', { firstCompany: firstCompany(changes) });
const rest = (changes: Parameters<typeof counts>[0]): MigrationState =>
  stateAt('complete-migration', { counts: counts({ total: 10, ...changes }) });

const amendment: DecisionDraft = { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 };

/**
 * Returns the state after three events, in this order: support has rejected the details, the decisions in `later` were
 * applied, and the details were rechecked.
 */
const rejected = (changes: Partial<MigrationState> = {}, ...later: readonly DecisionDraft[]): MigrationState => ({
  ...decideAll(stateAt('supply-details', changes), reject('supply-details', 'support'), ...later),
  preflight: preflight(),
});

test.each<[string, MigrationState, readonly Role[], string]>([
  ['unchecked details', stateAt('supply-details', { preflight: null }), [], 'are being checked'],
  [
    'problems in the details',
    stateAt('supply-details', { preflight: preflight({ problems: ['no room'] }) }),
    ['client'],
    'details to correct: no room',
  ],
  ['checked details', stateAt('supply-details'), ['support'], 'accept the supplied details'],
  ['details that support has rejected', rejected(), ['client'], 'change the supplied details as support has asked'],
  ['details changed after a rejection', rejected({}, amendment), ['support'], 'accept the supplied details'],
  [
    'details that the client has had checked again after a rejection',
    rejected({}, reject('supply-details', 'client')),
    ['support'],
    'accept the supplied details',
  ],
  [
    'details that support has had checked again because of a problem',
    rejected({ preflight: preflight({ problems: ['no room'] }) }),
    ['support'],
    'accept the supplied details',
  ],
  ['no proposed start time', stateAt('schedule'), ['client', 'support'], 'propose a start time'],
  ['a proposed start time', scheduled, ['client', 'support'], 'approve the start at 2026-03-07 20:00 UTC'],
  [
    'approval of the start time by one side',
    decideAll(scheduled, approve('schedule', 'support')),
    ['client'],
    'approve the start',
  ],
  [
    'a callback URL that neither side has confirmed',
    stateAt('update-application'),
    ['client', 'support'],
    'https://service.example/callback',
  ],
  [
    'an unknown callback URL',
    stateAt('update-application', { preflight: preflight({ callbackUrl: null }) }),
    ['client', 'support'],
    'has the callback URL of the service',
  ],
  [
    'a callback URL that one side has confirmed',
    decideAll(stateAt('update-application'), approve('update-application', 'client')),
    ['support'],
    'https://service.example/callback',
  ],
  [
    'unconfirmed companies',
    stateAt('disable-syncing', { counts: counts({ total: 10, waiting: 10, unconfirmed: 3 }) }),
    ['client'],
    '3 of 10 companies',
  ],
  ['a start time in the future', stateAt('migrate-first-company'), [], 'moved at 2026-03-07 20:00 UTC'],
  [
    'no credentials',
    stateAt('migrate-first-company', { counts: counts({ total: 10, waiting: 10, withoutCredential: 10 }) }),
    ['client'],
    'supply credentials',
  ],
  [
    'a first company whose window opens after the start',
    stateAt('migrate-first-company', {
      limits: { ...DEFAULT_LIMITS, windows: [{ days: ['sun'], from: '21:00', to: '23:00', timeZone: 'UTC' }] },
      counts: counts({ total: 10, waiting: 10 }),
    }),
    [],
    'moved at 2026-03-08 21:00 UTC',
  ],
  ['a first company that is moving', first({ stage: 'importing' }), [], 'acme-1, is being moved'],
  ['a first company that was moved', first({ stage: 'verified' }), ['support'], 'approve the first company, acme-1'],
  ['a first company that failed', first({ stage: 'failed' }), ['support'], 'decide what to try next'],
  ['moving companies', rest({ waiting: 2, syncing: 3, moved: 5 }), [], 'the remaining companies are being moved'],
  [
    'a window, while no company moves',
    {
      ...rest({ waiting: 5, moved: 5 }),
      window: { opensAt: '2026-03-09T21:00:00.000Z', closesAt: '2026-03-09T23:00:00.000Z' },
      limits: { ...DEFAULT_LIMITS, windows: [{ days: ['mon'], from: '21:00', to: '23:00', timeZone: 'UTC' }] },
    },
    [],
    'the remaining companies are moved in the window from 2026-03-09 21:00 UTC to 2026-03-09 23:00 UTC',
  ],
  [
    'a rejected handover',
    decideAll(rest({ moved: 10 }), reject('complete-migration', 'client')),
    ['support', 'client'],
    'resolve the problem for which the handover was rejected, and then sign off',
  ],
  ['missing credentials', rest({ waiting: 2, withoutCredential: 2, moved: 8 }), ['client'], 'credentials for 2'],
  [
    'missing credentials, confirmations and corrections',
    rest({ waiting: 6, unconfirmed: 1, withoutCredential: 2, heldBack: 3, outcomeUnknown: 1, moved: 3 }),
    ['client', 'support'],
    'the client must supply credentials for 2 companies; turn off syncing for 1 company, confirm that it is off, and supply credentials; correct or leave out 3 companies that cannot be moved as they are; support must decide what to do about 1 company with an unknown outcome',
  ],
  [
    'one held-back company',
    rest({ waiting: 1, heldBack: 1, moved: 9 }),
    ['client'],
    'leave out 1 company that cannot be moved as it is',
  ],
  [
    'a correction that is being checked',
    { ...rest({ waiting: 1, heldBack: 1, moved: 9 }), changes: 2, changesChecked: 1 },
    [],
    'the changed details are being checked',
  ],
  [
    'one unknown outcome and other companies that can move',
    rest({ outcomeUnknown: 1, waiting: 2, withoutCredential: 1, moved: 7 }),
    [],
    'the remaining companies are being moved',
  ],
  [
    'no credentials for the first wave and unconfirmed later waves',
    stateAt('migrate-first-company', {
      counts: counts({ total: 10, waiting: 10, withoutCredential: 4, unconfirmed: 6, unconfirmedInFirstWave: 0 }),
    }),
    ['client'],
    'supply credentials for 4 companies',
  ],
  [
    'only companies that were left out',
    stateAt('migrate-first-company', { counts: counts({ total: 10, excluded: 10 }) }),
    ['support'],
    'no company is left to move',
  ],
  [
    'unconfirmed companies of a later wave whose credentials are stored',
    rest({ waiting: 4, unconfirmed: 4, unconfirmedInNextWave: 3, lackingCredentialInNextWave: 0, moved: 6 }),
    ['client'],
    'turn off syncing for 3 companies of the next wave, and confirm that it is off',
  ],
  [
    'only deferred companies, apart from companies of a later wave',
    rest({ waiting: 5, deferred: 1, unconfirmed: 4, unconfirmedInNextWave: 3, moved: 5 }),
    ['client'],
    'turn off syncing for 3 companies of the next wave',
  ],
  [
    'companies of the first wave without a confirmation, and companies of later waves',
    rest({ waiting: 5, deferred: 1, unconfirmed: 4, unconfirmedInFirstWave: 3, unconfirmedInNextWave: 3, moved: 5 }),
    ['client'],
    'turn off syncing for 3 companies of the first wave',
  ],
  [
    'companies that can be moved, and companies of a later wave',
    rest({ waiting: 5, deferred: 0, unconfirmed: 4, unconfirmedInNextWave: 3, moved: 5 }),
    [],
    'the remaining companies are being moved',
  ],
  ['only deferred companies', rest({ waiting: 1, deferred: 1, moved: 9 }), [], 'is waiting for its next try'],
  ['unknown outcomes', rest({ outcomeUnknown: 2, moved: 8 }), ['support'], 'decide what to do about 2 companies'],
  ['no open company', rest({ moved: 9, failed: 1 }), ['support', 'client'], 'sign off the handover'],
  [
    'one sign-off',
    decideAll(rest({ moved: 10 }), approve('complete-migration', 'support')),
    ['client'],
    'sign off the handover',
  ],
  [
    'a pause',
    stateAt('schedule', { pause: { reason: 'lunch', by: 'Sam', stopReason: null, at: AT } }),
    ['support'],
    'resume the migration once the pause is no longer needed',
  ],
  [
    'an automatic pause',
    stateAt('schedule', { pause: { reason: 'x', by: null, stopReason: 'account-limit', at: AT } }),
    ['support'],
    'upgrade or renew it, then resume',
  ],
  ['completion', stateAt('complete-migration', { closed: 'completed' }), [], 'the migration is completed'],
  ['abandonment', stateAt('migrate-first-company', { closed: 'abandoned' }), [], 'the migration is abandoned'],
])('with %s, the progress says who has to act and what to do', (_, state, roles, what) => {
  const waited = waitingForOf(state);
  expect(waited.roles).toEqual(roles);
  expect(waited.what).toContain(what);
});
