/** The first line of the client's page in every state. */
import type { StopReason } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { STEPS, type Step } from '../../../domain/migration/steps';
import { progressOf } from '../../../domain/progress/progress';
import { statusLine } from '../../../presentation/wording/status-line';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  reject,
  START_AT,
  stateAt,
} from '../../support/migrations/migration-states';
import { ENDED } from './ended-states';
import { FREE, MANAGED, step6, type Row } from './managed-states';

const lineAt = (state: MigrationState, now = LATER): string =>
  statusLine(progressOf(migrationPlan({ route: state.route }), state), 'QuickBooks Online', now);

const pausedFor = (stopReason: StopReason | null, by: string | null = null): MigrationState =>
  step6({ total: 60, moved: 41, failed: 6, waiting: 13 }, { pause: { reason: 'lunch', by, stopReason, at: AT } });

/** The sentence that tells the client how to end a pause, by its reason. */
const AFTER_PAUSE: Readonly<Record<string, string>> = {
  '': ' You or support can resume the migration.',
  'application-refused':
    ' Please correct the client id, client secret or environment of your application, and supply it again.',
};

const PAUSED: readonly Row[] = (
  [
    [null, 'Paused by Sam.'],
    ['key-refused', 'Paused: the Company Data Service refuses access; support is looking at this problem.'],
    [
      'account-limit',
      'Paused: the account at the Company Data Service has reached a limit or has expired; support is looking at this problem.',
    ],
    ['application-refused', 'Paused: QuickBooks Online refuses your application; support is looking at this problem.'],
    [
      'wrong-organization',
      'Paused: a credential does not belong to the company that the manifest names; support is looking at this problem.',
    ],
    ['too-many-failures', 'Paused: 6 companies could not be moved; support is looking at this problem.'],
    ['ledger-behind', 'Paused: the records of this migration were out of date; support is looking at this problem.'],
  ] as const
).map(([reason, line]) => [
  `paused: ${reason ?? 'by a person'}`,
  pausedFor(reason, reason === null ? 'Sam' : null),
  `${line} 41 of 60 companies have moved.${AFTER_PAUSE[reason ?? ''] ?? FREE}`,
]);

const PAUSED_WITHOUT_CREDENTIALS: Row = [
  'paused by a person, without credentials',
  step6(
    { total: 60, moved: 41, waiting: 19, withoutCredential: 2, firstWithoutCredential: ['C-7', 'C-9'] },
    { pause: { reason: 'lunch', by: 'Cleo', stopReason: null, at: AT } },
  ),
  'Paused by Cleo. 41 of 60 companies have moved. Please supply credentials for 2 companies (C-7, C-9). You or support can resume the migration.',
];

const VERIFIED_AFTER_A_FAILURE: Row = [
  'first company verified, after another one that was not moved',
  stateAt('migrate-first-company', {
    firstCompany: firstCompany(),
    counts: counts({ total: 2, moved: 1, failed: 1 }),
  }),
  `The first company, acme-1, has moved. Support is checking this company.${FREE}`,
];

const CHANGES_ASKED_WITH_PROBLEMS: Row = [
  'changes asked for, with problems that only support can resolve',
  {
    ...decideAll(stateAt('supply-details'), reject('supply-details', 'support')),
    preflight: preflight({ problems: ['a', 'b'], problemCodes: ['no-room', 'account-expires'] }),
  },
  'The check of the details found 2 problems, which support has to resolve. Support has asked you to change the details that you supplied.',
];

/** A decision that the ledger has not recorded yet, so the counts do not show its effect. */
const { unrecorded } = decideAll(stateAt('complete-migration'), { kind: 'resume', role: 'client' });

const selfServiceAt = (step: Step, changes: Partial<MigrationState>): MigrationState =>
  stateAt(step, { route: 'self-service', ...changes });

const SELF_SERVICE: readonly Row[] = [
  [
    'checked',
    selfServiceAt('supply-details', {}),
    `Your details have been checked, and the companies will be moved now.${FREE}`,
  ],
  [
    'moving',
    selfServiceAt('complete-migration', { counts: counts({ total: 6, moved: 4, waiting: 2 }) }),
    `4 of 6 companies have moved, 2 to go.${FREE}`,
  ],
  [
    'failures to decide on',
    selfServiceAt('complete-migration', { counts: counts({ total: 6, moved: 4, failed: 2 }) }),
    'Please decide what to do about 2 companies that were not moved.',
  ],
  [
    'ending',
    selfServiceAt('complete-migration', { counts: counts({ total: 6, moved: 4, skipped: 2 }) }),
    `Every company has been moved or left out, and the migration is ending.${FREE}`,
  ],
  [
    'unknown outcomes',
    selfServiceAt('complete-migration', { counts: counts({ total: 6, moved: 4, outcomeUnknown: 2 }) }),
    '4 of 6 companies have moved. Please decide what to do about 2 companies with an unknown outcome.',
  ],
  [
    'windows paused',
    selfServiceAt('complete-migration', {
      counts: counts({ total: 6, moved: 4, waiting: 2 }),
      ...{ window: { opensAt: '2026-03-08T20:00:00.000Z', closesAt: '2026-03-09T04:00:00.000Z' }, schedule: 'paused' },
    }),
    '4 of 6 companies have moved. The windows are paused, so no move begins until they are resumed.',
  ],
  [
    'paused',
    { ...pausedFor('too-many-failures'), route: 'self-service' },
    'Paused: 6 companies could not be moved; you can resume the migration when this problem is solved. 41 of 60 companies have moved.',
  ],
  ...(
    [
      ['failures', { counts: counts({ total: 6, moved: 4, failed: 2 }) }, '4 of 6 companies have moved.'],
      [
        'missing credentials',
        { counts: counts({ total: 6, moved: 4, waiting: 2, withoutCredential: 1 }) },
        '4 of 6 companies have moved.',
      ],
      ['a pause', pausedFor(null, 'Cleo'), 'Paused by Cleo. 41 of 60 companies have moved.'],
    ] as const
  ).map(([name, changes, line]): Row => [
    `decisions being recorded: ${name}`,
    { ...selfServiceAt('complete-migration', changes), route: 'self-service', unrecorded },
    `${line} The latest decisions are being carried out.`,
  ]),
];

const ALL = [
  ...MANAGED,
  ...ENDED,
  ...PAUSED,
  PAUSED_WITHOUT_CREDENTIALS,
  VERIFIED_AFTER_A_FAILURE,
  CHANGES_ASKED_WITH_PROBLEMS,
  ...SELF_SERVICE.map(([name, ...row]) => [`self-service, ${name}`, ...row] as const),
];

test.each(ALL)('the first line says what is happening and what the client has to do: %s', (_, state, line) => {
  expect(lineAt(state)).toBe(line);
});

test.each(ALL)(
  'the first line contains no error, no command, no internal id and no time that has passed: %s',
  (_, state) => {
    const line = lineAt(state, START_AT);
    expect(line).not.toMatch(/ferry|HTTP|answered|PUT|[0-9a-f]{8}|ledger|undefined|null|NaN/i);
    for (const [, day = '', time = ''] of line.matchAll(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g)) {
      expect(`${day}T${time}:00.000Z` > START_AT).toBe(true);
    }
  },
);

test.each([
  ['a relink', { kind: 'relink', role: 'support', companies: 'all' }, 'support'],
  [
    'another application',
    { kind: 'application-supplied', role: 'client', clientId: 'app-2', environment: 'production' },
    'you',
  ],
  ['a retry', { kind: 'retry', role: 'support', companies: 'all' }, 'support'],
] as const)(
  '%s after the sign-off is called a decision, because it might have changed no company',
  (_, decision, who) => {
    const signedOff = decideAll(
      step6({ total: 60, moved: 50, failed: 10, mustReconnect: 7 }),
      approve('complete-migration', 'client'),
    );
    expect(lineAt(decideAll(signedOff, decision))).toBe(
      `50 of 60 companies have moved. Your sign-off no longer counts, because ${who} made another decision afterwards. Please review the handover, and sign it off again.`,
    );
  },
);

test('the client has signed off only if its approval says so: the counts can be newer than the task of support', () => {
  const before = progressOf(migrationPlan(), step6({ total: 60, moved: 59, outcomeUnknown: 1 }));
  expect(before.waitingFor.roles).toEqual(['support']);
  expect(statusLine({ ...before, counts: counts({ total: 60, moved: 60 }) }, 'QuickBooks Online', LATER)).toBe(
    `All 60 companies have moved.${FREE}`,
  );
});

test('the table contains a state of every step', () => {
  expect(new Set(MANAGED.map(([, { step }]) => step))).toEqual(new Set(STEPS));
});
