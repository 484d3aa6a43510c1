/** A migration of 60 companies as the portal shows it, and its companies. */
import type { z } from 'zod';
import type { CompanySchema, MigrationView } from '../../../portal/contract/migration-view';

export type Company = z.infer<typeof CompanySchema>;

const STEPS: readonly (readonly [string, string, string])[] = [
  ['supply-details', 'Supply details', 'you and support'],
  ['schedule', 'Schedule the migration', 'you and support'],
  ['update-application', 'Update the application', 'you and support'],
  ['disable-syncing', 'Disable data syncing', 'you'],
  ['migrate-first-company', 'Migrate the first company', 'support'],
  ['complete-migration', 'Complete the migration', 'you and support'],
];

export function sampleSteps(current: number): MigrationView['steps'] {
  return STEPS.map(([step, title, who], index) => {
    const number = index + 1;
    const isDone = number < current;
    return {
      ...{ step, number, title, who },
      state: isDone ? 'done' : number === current ? 'open' : 'later',
      openedAt: number <= current ? `2026-11-${10 + number}T09:00:00.000Z` : null,
      endedAt: isDone ? `2026-11-${11 + number}T09:00:00.000Z` : null,
      approvals: isDone && number === 2 ? [{ by: 'Sam', role: 'support', at: '2026-11-13T08:00:00.000Z' }] : [],
    };
  });
}

const action = (
  fields: Partial<MigrationView['actions'][number]> & { readonly message: string; readonly title: string },
): MigrationView['actions'][number] => ({
  facts: [],
  consequence: 'Support is told.',
  isIrreversible: false,
  isExpected: false,
  reason: 'none',
  ...fields,
});

export const CONFIRM_SYNC = action({
  message: 'confirmSyncDisabled',
  digest: '0f'.repeat(16),
  title: 'Confirm that syncing is off',
  facts: ['60 of 60 companies without a confirmation', 'Next: the 20 companies of wave 1'],
  consequence:
    'Confirm only companies that your own application no longer syncs. The data of these companies is out of date from the moment when syncing stops until they have moved. Never switch syncing back on for a company that is moving or has moved.',
  isExpected: true,
});

const OTHERS = [
  action({
    message: 'credentialsSupplied',
    title: 'Supply credentials',
    facts: [
      'Missing: credentials of 60 companies',
      'Each credential must have been obtained after you confirmed that syncing is off for its company.',
    ],
    consequence:
      "Each credential is encrypted on your device before it is sent. Only the provider's servers that move the companies can decrypt it.",
    isExpected: true,
  }),
  action({
    message: 'proposeTime',
    title: 'Propose another start',
    facts: ['Start: 2026-11-28 20:00 UTC, proposed by Sam (support)'],
    consequence: 'Both sides approve the new start again.',
    reason: 'optional',
  }),
  action({
    message: 'applicationSupplied',
    title: 'Replace your application',
    facts: ['Now: AB12-client (production)'],
    consequence: 'The client secret is encrypted on your device before it is sent.',
  }),
  action({
    message: 'exclude',
    title: 'Leave companies out',
    facts: ['41 companies can be left out'],
    consequence: 'The companies that you name will not be moved, and cannot be added to this migration again.',
    isIrreversible: true,
    reason: 'required',
  }),
  action({ message: 'pause', title: 'Pause the migration', reason: 'required' }),
  action({
    message: 'cancel',
    title: 'Cancel the migration',
    facts: ['14 of 60 companies moved so far. A company that has moved stays moved'],
    consequence:
      'The migration ends and cannot be resumed. No more moves begin. Companies whose credentials have already been handed over are still checked to the end; the others are not moved. All supplied credentials are destroyed.',
    isIrreversible: true,
    reason: 'required',
  }),
];

export function sampleView(changes: Partial<MigrationView> = {}): MigrationView {
  return {
    migrationId: 'kite',
    client: 'Kite Bookkeeping',
    platform: { key: 'qhyg', name: 'QuickBooks Online' },
    contact: 'solutions@provider.example',
    route: 'managed',
    state: 'disable-syncing',
    headline: 'Step 4 of 6: waiting for you to turn off syncing in your own application.',
    task: {
      what: 'Turn off syncing in your own application for all 60 companies, then confirm it here.',
      why: 'If your own application keeps syncing a company, its credential can stop working before the company is moved.',
      since: '2026-11-14T09:00:00.000Z',
      by: '2026-11-28T20:00:00.000Z',
      ifLate:
        'If anything is still missing at that time, moves cannot begin before the next window, at 2026-12-05 20:00 UTC.',
    },
    next: 'Once syncing is off and you have supplied the credentials, one company moves first.',
    notices: ['Moves begin only in the windows: the next one opens at 2026-11-28 20:00 UTC.'],
    steps: sampleSteps(4),
    start: { at: '2026-11-28T20:00:00.000Z', by: 'Sam', role: 'support', isAgreed: true },
    end: {
      earliest: '2026-11-29T01:00:00.000Z',
      latest: '2026-11-29T05:30:00.000Z',
      companies: 60,
      basis: 'estimated from 60 companies with 48,211 invoices',
    },
    windows: 'sat,sun 20:00-06:00 Europe/London',
    outOfDate: 'a company that you have confirmed gets no new data until it has moved',
    switchBackOn: 'never switch a company back on that is moving or has moved',
    counts: {
      ...{ total: 60, moved: 14, moving: 3, notMovedYet: 38, mustReconnect: 2, notMoved: 2, leftOut: 1 },
      ...{ unconfirmed: 60, withoutCredential: 60 },
    },
    waves: [
      { wave: 1, unconfirmed: 20 },
      { wave: 2, unconfirmed: 40 },
    ],
    firstCompany: null,
    details: { isChecking: false, problems: [], warnings: ['expectedInvoices is missing for 3 of 60 companies'] },
    application: { clientId: 'AB12-client', environment: 'production', suppliedBy: 'Cleo' },
    callbackUrl: 'https://service.example/callback/kite',
    credentialFields: ['accessToken', 'refreshToken', 'realmId'].map((name) => ({ name, isRequired: true })),
    isRotating: true,
    migrationKey: null,
    actions: [CONFIRM_SYNC, ...OTHERS],
    ...changes,
  };
}

export function sampleCompanies(count: number): Company[] {
  const states = ['moved', 'not-moved-yet', 'must-reconnect', 'moving', 'not-moved-yet', 'not-moved'] as const;
  return Array.from({ length: count }, (_, index): Company => {
    const row = index + 1;
    const state = index < 12 ? (states[index % 6] ?? 'moved') : 'not-moved-yet';
    return {
      ...{ row, state, reference: `K-${String(row).padStart(4, '0')}`, wave: row % 3 === 0 ? 1 : 2 },
      name:
        ['Müller & Söhne GmbH', 'Harbour Coffee Roasters Ltd', 'Oak Street Dental', 'Blue Finch Studio'][index % 4] ??
        '',
      confirmedAt: index < 6 ? '2026-11-20T10:00:00.000Z' : null,
      hasCredential: index < 6,
      movedAt: state === 'moved' ? '2026-11-21T20:14:00.000Z' : null,
      problem:
        state === 'must-reconnect'
          ? 'the platform no longer accepts its credential'
          : state === 'not-moved'
            ? 'the sync did not finish in time'
            : null,
      remedies:
        state === 'must-reconnect'
          ? ['relink', 'replace-credential', 'retry', 'skip']
          : state === 'not-moved'
            ? ['retry', 'replace-credential', 'skip']
            : state === 'not-moved-yet'
              ? ['exclude']
              : [],
      linkUrl: state === 'must-reconnect' ? `https://link.service.example/company/${row}` : null,
    };
  });
}
