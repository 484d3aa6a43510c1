/** Open managed migrations in many states, and the first line of the client's page in each of them. */
import type { Counts } from '../../../domain/companies/counts';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  preflight,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

export type Row = readonly [name: string, state: MigrationState, line: string];

export const FREE = ' Nothing for you to do.';
export const step6 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}): MigrationState =>
  stateAt('complete-migration', { counts: counts(changes), ...more });
const first = (changes: Partial<MigrationState>): MigrationState =>
  stateAt('migrate-first-company', { proposal: null, ...changes });
const outage = { why: 'PUT /companies/c6f39685: answered 403', since: AT, until: '2026-03-02T10:20:00.000Z' };
const SUNDAYS = { days: ['sun'], from: '21:00', to: '23:00', timeZone: 'UTC' } as const;
const window = { opensAt: '2026-03-08T20:00:00.000Z', closesAt: '2026-03-09T04:00:00.000Z' };

export const MANAGED: readonly Row[] = [
  ['checking', stateAt('supply-details', { preflight: null }), `Your details are being checked.${FREE}`],
  [
    'problems',
    stateAt('supply-details', {
      preflight: preflight({ problems: ['a', 'b'], problemCodes: ['application-missing', 'no-room'] }),
    }),
    'The check of the details found 2 problems. Please resolve what you can.',
  ],
  [
    'application missing',
    stateAt('supply-details', { preflight: preflight({ problems: ['a'], problemCodes: ['application-missing'] }) }),
    'Please supply your QuickBooks Online application.',
  ],
  ['reviewing', stateAt('supply-details'), `Support is reviewing your details.${FREE}`],
  [
    'changes asked for',
    { ...decideAll(stateAt('supply-details'), reject('supply-details', 'support')), preflight: preflight() },
    'Support has asked you to change the details that you supplied.',
  ],
  [
    'only deferred companies, apart from companies of a later wave',
    stateAt('complete-migration', {
      counts: counts({ total: 10, waiting: 5, deferred: 1, unconfirmed: 4, unconfirmedInNextWave: 3, moved: 5 }),
    }),
    '5 of 10 companies have moved. Please turn off syncing for 3 companies of the next wave, confirm that it is off, and supply credentials.',
  ],
  ['no start', stateAt('schedule'), 'Please propose a start time, or ask support to propose one.'],
  [
    'start proposed',
    decideAll(stateAt('schedule'), proposeTime('support')),
    'Please approve the start at 2026-03-07 20:00 UTC.',
  ],
  [
    'start in the past',
    stateAt('schedule', { proposal: { startAt: AT, role: 'support', by: 'Sam', at: AT } }),
    'Please approve the start, which is as soon as everything is ready.',
  ],
  [
    'start in the past, before a window',
    stateAt('schedule', {
      proposal: { startAt: AT, role: 'support', by: 'Sam', at: AT },
      limits: { ...DEFAULT_LIMITS, windows: [SUNDAYS] },
    }),
    'Please approve the start, which is as soon as everything is ready, but not before the window opens at 2026-03-08 21:00 UTC.',
  ],
  [
    'start approved by the client',
    decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'client')),
    `You have approved the start at 2026-03-07 20:00 UTC. Support has to approve it too.${FREE}`,
  ],
  [
    'callback URL',
    stateAt('update-application'),
    'Please add the callback URL to your QuickBooks Online application, then confirm it.',
  ],
  [
    'callback URL confirmed by the client',
    decideAll(stateAt('update-application'), approve('update-application', 'client')),
    `Support is checking the callback URL of your QuickBooks Online application.${FREE}`,
  ],
  [
    'syncing on',
    stateAt('disable-syncing'),
    'Please turn off syncing for 10 companies in your own application, then confirm that it is off.',
  ],
  [
    'syncing on in the first wave',
    stateAt('disable-syncing', {
      counts: counts({ total: 10, waiting: 10, unconfirmed: 10, unconfirmedInFirstWave: 1 }),
    }),
    'Please turn off syncing for 1 company of the first wave in your own application, then confirm that it is off.',
  ],
  [
    'before the start',
    stateAt('migrate-first-company'),
    `The first company will be moved at 2026-03-07 20:00 UTC.${FREE}`,
  ],
  [
    'before the first window, which the migration does not wait for yet',
    stateAt('migrate-first-company', { limits: { ...DEFAULT_LIMITS, windows: [SUNDAYS] } }),
    `The first company will be moved at 2026-03-08 21:00 UTC.${FREE}`,
  ],
  [
    'before the first company, with credentials missing',
    first({
      counts: counts({
        waiting: 60,
        total: 60,
        withoutCredential: 4,
        firstWithoutCredential: ['N-1', 'N-2', 'N-3', 'N-4'],
      }),
    }),
    'The first company will be moved now. Please supply credentials for 4 companies (N-1, N-2, N-3 and 1 more).',
  ],
  [
    'a first company that support checks, with a credential missing',
    first({
      firstCompany: firstCompany(),
      counts: counts({ waiting: 1, moved: 1, total: 2, withoutCredential: 1, firstWithoutCredential: ['N-1'] }),
    }),
    'The first company, acme-1, has moved. Support is checking this company before the other companies follow. Please supply credentials for 1 company (N-1).',
  ],
  ['before the window', first({ window }), `The first company will be moved at 2026-03-08 20:00 UTC.${FREE}`],
  ['after the start', first({}), `The first company will be moved now.${FREE}`],
  [
    'first company moving',
    first({ firstCompany: firstCompany({ stage: 'importing' }) }),
    `The first company, acme-1, is being moved and checked.${FREE}`,
  ],
  [
    'first company in an outage',
    first({ firstCompany: firstCompany({ stage: 'importing' }), outage: { ...outage, source: 'service' } }),
    `The first company, acme-1, is waiting for the Company Data Service; next attempt 2026-03-02 10:20 UTC.${FREE}`,
  ],
  [
    'first company verified',
    first({ firstCompany: firstCompany() }),
    `The first company, acme-1, has moved. Support is checking this company before the other companies follow.${FREE}`,
  ],
  [
    'first company verified, and no other company to move',
    first({ firstCompany: firstCompany(), counts: counts({ total: 3, moved: 1, excluded: 2 }) }),
    `The first company, acme-1, has moved. Support is checking this company.${FREE}`,
  ],
  [
    'first company failed',
    first({ firstCompany: firstCompany({ stage: 'failed' }) }),
    `The first company, acme-1, was not moved. Support is deciding what to try next.${FREE}`,
  ],
  [
    'first company that must reconnect',
    first({ firstCompany: firstCompany({ stage: 'failed', failure: 'reauthorization-required' }) }),
    `The first company, acme-1, must reconnect. Support is deciding what to try next.${FREE}`,
  ],
  [
    'first company left out after its failure',
    first({
      firstCompany: firstCompany({
        ...{ stage: 'failed', failure: 'reauthorization-required' },
        evidence: [{ code: 'moved', label: 'moved', passed: false, detail: 'left out: sold' }],
      }),
    }),
    `The first company, acme-1, was left out. Support is deciding what to try next.${FREE}`,
  ],
  [
    'first company not ready',
    first({ requestedFirst: { reference: 'acme-2', notReady: true } }),
    'acme-2 was chosen to move first but is not ready. Please confirm that its syncing is off, supply its credential or correct its row, or ask support to choose another company. If acme-2 was left out or is not in the manifest, only another company can move first.',
  ],
  [
    'no credential',
    first({ counts: counts({ total: 10, waiting: 10, withoutCredential: 10 }) }),
    'Please supply credentials for 10 companies.',
  ],
  [
    'corrections being checked before the first company',
    first({ counts: counts({ total: 1, waiting: 1, heldBack: 1 }), changes: 1 }),
    `Your changes are being checked.${FREE}`,
  ],
  [
    'moving',
    step6({ total: 60, moved: 41, importing: 4, waiting: 15 }),
    `41 of 60 companies have moved, 19 to go.${FREE}`,
  ],
  ['just begun', step6({ total: 2_000, waiting: 2_000 }), `No company has moved, 2,000 to go.${FREE}`],
  [
    'moving, with companies that lack credentials',
    step6({ total: 60, moved: 41, waiting: 19, withoutCredential: 3, unconfirmed: 5, unconfirmedInFirstWave: 0 }),
    '41 of 60 companies have moved, 19 to go. Please supply credentials for 3 companies.',
  ],
  [
    'moving, with companies that were added',
    step6({ total: 60, moved: 41, waiting: 19, unconfirmed: 5 }),
    '41 of 60 companies have moved, 19 to go. Please turn off syncing for 5 companies, confirm that it is off, and supply credentials.',
  ],
  [
    'moving, with a later wave',
    step6({ total: 60, moved: 41, waiting: 19, unconfirmed: 5, unconfirmedInFirstWave: 0, unconfirmedInNextWave: 3 }),
    '41 of 60 companies have moved, 19 to go. Nothing for you to do now. Later, turn off syncing for 3 companies of the next wave, confirm that it is off, and supply credentials.',
  ],
  [
    'automatically paused, with companies that lack credentials',
    step6(
      { total: 60, moved: 41, failed: 3, waiting: 16, withoutCredential: 3 },
      { pause: { reason: 'a', by: null, stopReason: 'too-many-failures', at: AT } },
    ),
    'Paused: 3 companies could not be moved; support is looking at this problem. 41 of 60 companies have moved. Please supply credentials for 3 companies.',
  ],
  [
    'moving, with companies that are held back',
    step6({ total: 60, moved: 41, waiting: 19, heldBack: 1 }),
    '41 of 60 companies have moved, 19 to go. Please correct or leave out 1 company that cannot be moved as it is.',
  ],
  [
    'outage of the platform',
    step6({ total: 60, moved: 59, waiting: 1 }, { outage: { ...outage, source: 'platform' } }),
    `1 company is waiting for QuickBooks Online; next attempt 2026-03-02 10:20 UTC; all others have moved.${FREE}`,
  ],
  [
    'outage of the service',
    step6({ total: 60, moved: 1, failed: 9, waiting: 50 }, { outage: { ...outage, source: 'service' } }),
    `50 companies are waiting for the Company Data Service; next attempt 2026-03-02 10:20 UTC; 1 of 60 companies has moved.${FREE}`,
  ],
  [
    'on hold for another reason',
    step6({ total: 60, waiting: 60 }, { outage: { ...outage, until: '2026-03-03T00:10:00.000Z' } }),
    `60 companies are waiting because of a technical problem; next attempt 2026-03-03 00:10 UTC; no company has moved.${FREE}`,
  ],
  [
    'outage whose next attempt is in the past',
    step6({ total: 60, moved: 59, waiting: 1 }, { outage: { ...outage, until: AT, source: 'platform' } }),
    `1 company is waiting for QuickBooks Online; all others have moved.${FREE}`,
  ],
  [
    'before the next window',
    step6(
      { total: 60, moved: 41, waiting: 19 },
      { window, limits: { ...DEFAULT_LIMITS, windows: [{ ...SUNDAYS, from: '20:00' }] } },
    ),
    `41 of 60 companies have moved. The next companies move at 2026-03-08 20:00 UTC.${FREE}`,
  ],
  [
    'windows paused',
    step6({ total: 60, moved: 41, waiting: 19 }, { window, schedule: 'paused' }),
    `41 of 60 companies have moved. The windows are paused, so no move begins until support resumes them.${FREE}`,
  ],
  [
    'unconfirmed companies',
    step6({ total: 60, moved: 41, waiting: 19, unconfirmed: 19 }),
    '41 of 60 companies have moved. Please turn off syncing for 19 companies, confirm that it is off, and supply credentials.',
  ],
  [
    'companies that are held back',
    step6({ total: 60, moved: 58, waiting: 2, heldBack: 2 }),
    '58 of 60 companies have moved. Please correct or leave out 2 companies that cannot be moved as they are.',
  ],
  [
    'corrections being checked',
    step6({ total: 60, moved: 58, waiting: 2, heldBack: 2 }, { changes: 1 }),
    `58 of 60 companies have moved. Your changes are being checked.${FREE}`,
  ],
  [
    'unknown outcomes',
    step6({ total: 60, moved: 59, outcomeUnknown: 1 }),
    `59 of 60 companies have moved. Support is finding out what happened to 1 company.${FREE}`,
  ],
  [
    'sign-off',
    step6({ total: 60, moved: 50, failed: 10, mustReconnect: 7 }),
    '50 of 60 companies have moved. Please sign off the handover.',
  ],
  [
    'a rejected handover',
    decideAll(step6({ total: 60, moved: 60 }), reject('complete-migration', 'client')),
    'All 60 companies have moved. The handover was rejected. Please resolve the problem with support, and then sign off the handover.',
  ],
  [
    'signed off by the client',
    decideAll(step6({ total: 60, moved: 60 }), approve('complete-migration', 'client')),
    `All 60 companies have moved, and you have signed off. Support has to sign off too.${FREE}`,
  ],
];
