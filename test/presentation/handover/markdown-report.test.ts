import type { ReportedCompany } from '../../../presentation/handover/company-sections';
import { companyRecord, sectionsOf } from '../../../presentation/handover/company-sections';
import type { ReportHead } from '../../../presentation/handover/report-facts';
import { outOfDateText } from '../../../presentation/handover/report-facts';
import { reportDecisions, reportHead, sectionHead, sectionRow } from '../../../presentation/handover/markdown-report';
import { hoursText } from '../../../domain/text/sentences';
import type { CompanyState } from '../../../domain/companies/company-state';
import { COMPANY_STATES, NO_COUNTS } from '../../../domain/companies/company-state';
import type { Decision } from '../../../domain/migration/decision';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';

const recorded = (decision: Decision, outcome: { applied: boolean; text: string }, at: string) => ({
  decision,
  outcome: { decisionId: decision.decisionId, at, ...outcome },
});
const sender = (decisionId: string, role: 'client' | 'support') => ({
  decisionId,
  role,
  by: role === 'client' ? 'Cleo' : 'Sam',
});

const PAUSED = recorded(
  { kind: 'pause', ...sender('1', 'support'), reason: 'tea' },
  { applied: true, text: 'paused' },
  '2026-11-20T22:01:00.000Z',
);
const REFUSED = recorded(
  { kind: 'step', ...sender('2', 'client'), step: 'supply-details', verdict: 'approve' },
  { applied: false, text: 'not by client' },
  '2026-11-20T22:02:00.000Z',
);

const HEAD: ReportHead = {
  migrationId: 'acme.quickbooks-online',
  route: 'managed',
  client: 'acme',
  platformKey: 'qhyg',
  contact: 'Sam, +44 20 7946 0000',
  ending: null,
  paused: false,
  suppliedAt: '2026-11-20T22:00:00.000Z',
  suppliedBy: 'Cleo',
  closedAt: null,
  vaultDestroyedAt: null,
  counts: { ...NO_COUNTS, total: 9, moved: 3, failed: 2, waiting: 1, excluded: 2, outcomeUnknown: 1 },
  figures: {
    crossed: 4,
    crossingUnknown: 1,
    movable: 2,
    mustReconnect: 1,
    reconnectionsCheckedAt: null,
    leftOutAtService: 0,
    firstStartedAt: '2026-11-20T23:00:00.000Z',
    lastMovedAt: '2026-11-21T01:30:00.000Z',
    longestStaleHours: 6.21,
    medianStaleHours: 2,
    credentialsLeft: 0,
  },
  applications: { moved: [], replaced: [], registered: null },
  planned: null,
  unproven: null,
  decisions: [PAUSED, REFUSED],
};

const COMPANY: ReportedCompany = {
  reference: 'C-1',
  name: 'Bramble | Finch\nInteriors',
  storedName: 'Bramble Finch Interiors',
  organization: '91',
  state: 'moved',
  credential: null,
  confirmedAt: null,
  crossedAt: new Date('2026-11-20T22:03:00.000Z'),
  sentAt: null,
  existedBefore: false,
  companyId: 'company',
  connectionId: 'connection',
  linkUrl: 'https://link.example/1',
  movedAt: new Date('2026-11-20T22:03:00.000Z'),
  failure: null,
  failureText: null,
  correlationId: 'latest',
  evidence: [
    {
      code: 'refreshed',
      label: 'token refreshed at the platform',
      passed: true,
      detail: '',
      correlationId: 'authorization',
      durationMs: 3,
    },
    {
      code: 'organization',
      label: 'right organization',
      passed: true,
      detail: '91 (Organization 91); the manifest calls the company Bramble',
    },
    {
      code: 'complete',
      label: 'invoices complete',
      passed: true,
      detail: '3 expected, 3 found',
      correlationId: 'counted',
      records: { dataType: 'invoices', expected: 3, found: 3 },
    },
  ],
  syncSchedule: { everyHours: { least: 24, most: 24 }, nextAt: '2026-11-21T22:03:00.000Z' },
  leftOutBy: null,
  leftOutReason: null,
  heldBack: null,
  tries: 1,
  deferred: false,
  retryAt: null,
  relinkingSince: null,
};

/** Returns the rows of a company, by the title of the section. */
function rowsOf(company: ReportedCompany, ended: boolean): Record<string, string> {
  const sections = sectionsOf(ended).filter(
    ({ states, includes: holds }) => states.includes(company.state) && holds(company),
  );
  return Object.fromEntries(
    sections.map((section) => [section.title, sectionRow(section, company, { ended, year: '2026' })]),
  );
}

describe('the head of the report', () => {
  test.each<[Partial<ReportHead>, string]>([
    [{}, 'State: in progress (this report is preliminary)'],
    [{ paused: true }, 'State: paused (this report is preliminary)'],
    [{ ending: 'completed', closedAt: '2026-11-20T23:00:00.000Z' }, '| migration closed |  | 20 Nov 23:00 |'],
    [{}, 'Who to call: Sam, +44 20 7946 0000'],
    [{}, 'Details supplied: 20 Nov 2026 22:00 by Cleo'],
    [{}, 'Times: all in UTC'],
    [{}, '**Still needed**: none at the moment. Until the migration ends'],
    [
      { figures: { ...HEAD.figures, credentialsLeft: 2 } },
      '**Still needed**: 2 credentials, stored in encrypted form.',
    ],
    [{}, '| must reconnect | 1 |'],
    [{}, '| not moved | 1 |'],
    [
      { vaultDestroyedAt: '2026-11-20T23:00:00.000Z' },
      'was erased at 20 Nov 2026 23:00, and the credentials were deleted; none is left in our database. Encrypted copies can remain',
    ],
    [{}, '**To delete on your side**: every export'],
    [{}, '| data out of date |  | at most 6.3 hours, median 2 hours |'],
    [
      { figures: { ...HEAD.figures, longestStaleHours: 0.1, medianStaleHours: 0.05 } },
      '| data out of date |  | at most 6 minutes, median 3 minutes |',
    ],
    [{ closedAt: '2027-01-01T00:05:00.000Z' }, '| migration closed |  | 1 Jan 2027 00:05 |'],
    [{}, '- **Send each company that must reconnect its link** (1): its owner'],
    [{ ending: 'completed' }, '- **Delete your copies of the credentials**: exports'],
    [{}, '| duration |  | 2.5 h |'],
  ])('contains, with the changes %j: %s', (changes, text) => {
    expect(reportHead({ ...HEAD, ...changes })).toContain(text);
  });

  test.each([
    ['cancelled', { kind: 'cancel', ...sender('9', 'client'), reason: 'we have changed our mind' }],
    [
      'abandoned',
      {
        kind: 'step',
        ...sender('9', 'client'),
        step: 'migrate-first-company',
        verdict: 'reject',
        afterwards: { next: 'abandon' },
        reason: 'we have changed our mind',
      },
    ],
  ] as const)('says who ended a migration that was %s, and why', (ending, decision) => {
    const decisions = [...HEAD.decisions, recorded(decision, { applied: true, text: '' }, '2026-11-21T00:00:00.000Z')];
    const head = reportHead({ ...HEAD, ending, decisions });
    expect(head).toContain(`State: ${ending} by Cleo (client); reason: we have changed our mind`);
  });

  test('compares the plan with the actual times', () => {
    const startAt = '2026-11-20T22:30:00.000Z';
    const volume = {
      ...{ companies: 9, records: 900, companiesWithoutVolume: 0, largestCompany: 100 },
      ...{ largestFamily: 0, staleSince: null },
    };
    const expected = estimate({ volume, limits: DEFAULT_LIMITS, speedEstimate: ASSUMED_SPEED, from: startAt });
    const head = reportHead({ ...HEAD, planned: { startAt, estimate: expected } });
    expect(head).toContain('| first move began | 20 Nov 22:30 | 20 Nov 23:00 |');
    expect(head).toMatch(/\| last company moved \| 20 Nov 22:3\d to 20 Nov 22:3\d \| 21 Nov 01:30 \|/);
    expect(head).toContain(`up to ${hoursText(expected.staleHours ?? 0)}`);
    const outside = { startAt, opensAt: '2026-11-20T22:45:00.000Z', estimate: expected };
    expect(reportHead({ ...HEAD, planned: outside })).toContain('| first move began | 20 Nov 22:45 | 20 Nov 23:00 |');
  });

  test('shows for how many companies syncing may be switched back on, before and after the migration has ended', () => {
    expect(reportHead(HEAD)).toContain('- **Never** (4)');
    expect(reportHead(HEAD)).toContain('- **Ask first** (1)');
    expect(reportHead(HEAD)).toContain(
      '- **Not yet** (2): companies that can still be moved.\n- **Yes**: companies that were left out',
    );
    expect(reportHead({ ...HEAD, ending: 'cancelled' })).toContain(
      '- **Yes** (4): companies whose access was not handed over to us.',
    );
  });

  test('after the migration has ended, names the same companies in its actions as in its tables', () => {
    const ended = { ...HEAD, ending: 'completed', counts: { ...NO_COUNTS, total: 60, moved: 56, skipped: 4 } } as const;
    const figures = { ...HEAD.figures, crossed: 59, crossingUnknown: 0, movable: 0, mustReconnect: 0 };
    const head = reportHead({ ...ended, figures: { ...figures, leftOutAtService: 3 } });
    expect(head).toContain('- **Never** (59)');
    expect(head).toContain('- **Remove the stored tokens of the companies whose access was handed over to us** (59)');
    expect(head).toContain(
      '- **Ask support about the companies that were left out after their access was handed over** (3): do their',
    );
    expect(head).toContain('You may use them in your own application, unless the tables below say otherwise.');
    expect(head).toContain('the stored tokens of the companies whose access was handed over to us, so that nothing');
    const all = { ...ended, counts: { ...NO_COUNTS, total: 59, moved: 59 } };
    expect(reportHead({ ...all, figures })).not.toContain('left out after their access');
  });

  test('about out-of-date companies, promises nothing that the tables forbid, and no links that do not exist', () => {
    const counts = { ...NO_COUNTS, total: 60, moved: 56, skipped: 4 };
    const figures = { ...HEAD.figures, crossed: 59, mustReconnect: 0 };
    const text = (changes: Partial<ReportHead>) => outOfDateText({ ...HEAD, ending: 'completed', counts, ...changes });
    const others =
      'The data of companies that were not moved stays out of date until you switch their syncing back on in your own application, if the tables below allow it';
    const handedOver =
      '3 companies were not moved although access was handed over to us. Never switch their syncing back on; the tables below say what to do.';
    expect(text({ figures })).toContain(`${others}. ${handedOver}`);
    expect(text({ figures: { ...figures, crossed: 60 } })).not.toContain('stays out of date');
    const reconnecting = text({ figures: { ...figures, crossed: 56, mustReconnect: 1 } });
    expect(reconnecting).toContain(`${others}, or until their end customers reconnect.`);
    expect(reconnecting).not.toContain('although');
    const all = { figures: { ...figures, crossed: 56 }, counts: { ...NO_COUNTS, total: 56, moved: 56 } };
    expect(text(all)).toMatch(/up to date again\. It was out of date for .*\)\.$/);
  });

  const supplied = (clientId: string) =>
    recorded(
      { kind: 'application-supplied', ...sender(clientId, 'client'), clientId, environment: 'production' },
      { applied: true, text: '' },
      '2026-11-20T22:00:00.000Z',
    );

  test('says that the secret of the latest application must be rotated', () => {
    const head = reportHead({ ...HEAD, decisions: [supplied('app-1'), supplied('app-2')] });
    expect(head).toContain('the secret of your application app-2 (production) at QuickBooks Online, because it was');
  });

  test('names the companies that depend on each application, and asks to register a replaced one again', () => {
    const moved = (clientId: string, ...references: string[]) => ({
      ...{ application: { clientId, environment: 'production' }, companies: references.length, references },
    });
    const [old, current] = [moved('app-1', 'C-1', 'C-2'), moved('app-2', 'C-3')];
    const decisions = [supplied('app-1'), supplied('app-2')];
    const report = (
      of: readonly (typeof old)[],
      registered: (typeof old)['application'] | null = current.application,
    ) => reportHead({ ...HEAD, decisions, applications: { moved: of, replaced: [old], registered } });
    const both = report([old, current]);
    expect(both).toContain(
      '- **Keep your application app-1 (production), and ask support to register it again** (2): 2 companies (C-1, C-2) were moved with it, ' +
        'but app-2 (production) is registered now, so the service can no longer refresh their tokens.',
    );
    expect(both).toContain('app-1 (production) at QuickBooks Online, because it was shared for this migration. The');
    expect(both).toContain('The connections of 2 companies (C-1, C-2) depend on it');
    expect(both).toContain('The connections of 1 company (C-3) depend on it');
    expect(report([old])).toContain(
      'app-2 (production) at QuickBooks Online, because it was shared for this migration. No moved connection depends on it.',
    );
    expect(report([old], null)).toContain('but another application is registered now');
  });

  test('advises ferry application for the new secret only while the migration is open', () => {
    expect(reportHead(HEAD)).toContain('supply the new secret before');
    const ended = reportHead({ ...HEAD, ending: 'completed' });
    expect(ended).toContain('so give support the new secret before the old one expires');
    expect(ended).not.toContain('ferry application');
  });

  test('in self-service, asks for a new secret only if the old secret may have been shared', () => {
    const moved = [
      { application: { clientId: 'found', environment: 'production' }, companies: 1, references: ['C-1'] },
    ];
    const selfService = (platformKey: string, changes: Partial<ReportHead> = {}) =>
      reportHead({
        ...{ ...HEAD, route: 'self-service', ending: 'completed', platformKey },
        applications: { moved, replaced: [], registered: null },
        ...changes,
      });
    // Square never refreshes tokens, so no application is registered.
    expect(selfService('zsth')).not.toContain('To rotate on your side');
    expect(selfService('gbol')).toContain(
      'the secret of your application found (production) at Xero, if you gave it to support for this',
    );
    expect(selfService('gbol')).toContain('**Rotate the secret of your application**: if you gave it to support,');
    expect(selfService('gbol', { decisions: [supplied('app-1')] })).toContain(
      'app-1 (production) at Xero, because it was shared',
    );
    const none = selfService('gbol', { applications: { moved: [], replaced: [], registered: null } });
    expect(none).not.toMatch(/rotate/i);
    expect(selfService('gbol')).not.toContain('ferry application');
  });
});

test('refused decisions are listed separately, with the reason', () => {
  const [applied, refused] = reportDecisions(HEAD).split('## Refused');
  expect(applied).toContain('| 20 Nov 22:01 | Sam (support) | pause (tea) |');
  expect(applied).not.toContain('Cleo');
  expect(refused).toContain('| Cleo (client) | approve supply-details | not by client |');
});

test('text of people and of the service cannot become markup', () => {
  const link = '[Go](http://e.io)';
  const head = reportHead({ ...HEAD, contact: link, suppliedBy: link });
  expect(`${head}${rowsOf({ ...COMPANY, name: link }, true)['Moved']}`).not.toContain('[Go]');
  const paused = recorded(
    { kind: 'pause', ...sender('9', 'support'), by: link, reason: link },
    { applied: false, text: link },
    '2026-11-20T22:01:00.000Z',
  );
  expect(reportDecisions({ ...HEAD, decisions: [paused] })).not.toContain('[Go]');
});

test('a decision on many companies lists only the first references', () => {
  const companies = Array.from({ length: 25 }, (_, index) => `C-${index + 1}`);
  const retried = recorded(
    { kind: 'retry', ...sender('3', 'support'), companies },
    { applied: true, text: '' },
    '2026-11-20T22:01:00.000Z',
  );
  expect(reportDecisions({ ...HEAD, decisions: [retried] })).toContain('retry C-1, C-2,');
  expect(reportDecisions({ ...HEAD, decisions: [retried] })).toContain('C-20 and 5 more |');
});

describe('a company in the report', () => {
  test('shows its invoices when it has moved, because other records are counted only for the first company', () => {
    const counted = (dataType: string, found: number) => ({
      ...({ code: 'complete', label: `${dataType} complete`, passed: true, detail: `${found} found` } as const),
      records: { dataType, expected: null, found },
    });
    const evidence = [counted('invoices', 13), counted('customers', 32)];
    expect(rowsOf({ ...COMPANY, evidence }, true)['Moved']).toContain('| 13 |');
  });

  test('says in the CSV file what to do if it was left out although the service has its connection', () => {
    const leftOut = { ...COMPANY, state: 'skipped', failure: 'incomplete', movedAt: null } as const;
    expect(companyRecord(leftOut, true)['what to do']).toBe('ask support whether its connection stays in use');
    expect(companyRecord({ ...leftOut, crossedAt: null }, true)['what to do']).toBe('');
  });

  test('is one short row without ids if it was moved, whatever characters its name contains', () => {
    expect(rowsOf(COMPANY, true)).toEqual({
      Moved: '| C-1 | Bramble \\| Finch Interiors | 3 | 20 Nov 22:03 | 24 h | 21 Nov 22:03 |',
    });
  });

  test.each([
    [null, '|  |  |'],
    [{ everyHours: null, nextAt: null }, '| only on request |  |'],
    [{ everyHours: { least: 1, most: 24 }, nextAt: null }, '| 1 to 24 h |  |'],
  ])('shows the sync schedule %j as %s', (syncSchedule, text) => {
    expect(rowsOf({ ...COMPANY, syncSchedule }, true)['Moved']).toContain(text);
  });

  const failed: ReportedCompany = { ...COMPANY, state: 'failed', failureText: 'why', movedAt: null };

  test('is shown with its link if it must reconnect', () => {
    const rows = rowsOf({ ...failed, failure: 'reauthorization-required', crossedAt: null }, true);
    expect(rows).toEqual({
      'Must reconnect': '| C-1 | Bramble \\| Finch Interiors | https://link.example/1 | why | until it reconnects |',
    });
  });

  test.each([
    ['incomplete', false, 'try again (if its credential was accepted, it is only synced and checked again)'],
    ['incomplete', true, 'nothing; the connection is in place, and support takes care of its sync'],
    ['wrong-organization', false, 'try again with a new credential from the client'],
    ['wrong-organization', true, 'in a new migration'],
    ['refused', false, 'try again'],
  ] as const)('that failed with %s (migration ended: %s) is shown with what to do: %s', (failure, ended, whatToDo) => {
    const row = rowsOf({ ...failed, failure }, ended)['Not moved, and what to do'];
    expect(row).toContain('| why |');
    expect(row).toContain(whatToDo);
    expect(row).not.toContain('latest');
  });

  test('that was left out is shown with the person who decided it and the reason', () => {
    const leftOut = { leftOutBy: 'Sam', leftOutReason: 'sold', crossedAt: null, companyId: null };
    expect(rowsOf({ ...COMPANY, ...leftOut, state: 'excluded' }, false)).toEqual({
      'Left out': '| C-1 | Bramble \\| Finch Interiors | before its move | Sam | sold |  | yes |',
    });
    expect(rowsOf({ ...failed, ...leftOut, state: 'skipped' }, false)['Left out']).toContain(
      '| after an attempt to move it | Sam | sold | why | yes |',
    );
  });

  test.each<[CompanyState, boolean, boolean, string]>([
    ['syncing', true, false, 'never'],
    ['failed', true, true, 'never'],
    ['skipped', true, true, 'never: the service has its connection; ask support whether it stays in use'],
    ['waiting', true, true, 'never'],
    ['importing', false, false, 'ask first'],
    ['outcome-unknown', false, true, 'ask first'],
    ['failed', false, false, 'not yet'],
    ['failed', false, true, 'yes'],
    ['waiting', false, false, 'not yet'],
    ['waiting', false, true, 'yes'],
    ['skipped', false, false, 'yes'],
    ['excluded', false, false, 'yes'],
  ])(
    'that is %s (handed over: %s, migration ended: %s) may be switched back on: %s',
    (state, crossed, ended, answer) => {
      const crossedAt = crossed ? COMPANY.crossedAt : null;
      const [row] = Object.values(rowsOf({ ...COMPANY, state, crossedAt }, ended));
      expect(row).toContain(`| ${answer} |`);
    },
  );

  test('that was moved is in a section that says once that it may never be switched back on', () => {
    const moved = sectionsOf(true).find(({ title }) => title === 'Moved');
    expect(moved && sectionHead(moved)).toContain(
      'Never switch the syncing of these companies back on in your own application.',
    );
  });

  test.each(['skipped', 'excluded', 'waiting'] as const)(
    'that is %s has the answer "ask first" if its single-use token might have been used',
    (state) => {
      const sent = { ...COMPANY, state, crossedAt: null, sentAt: new Date('2026-11-20T22:02:00.000Z') };
      expect(Object.values(rowsOf(sent, true))[0]).toContain('| ask first |');
      // The platform has refused the token, so neither side can use it.
      expect(Object.values(rowsOf({ ...sent, failure: 'reauthorization-required' }, true))[0]).toContain(
        state === 'waiting' ? '| yes |' : '| after its end customer has authorized your application again |',
      );
    },
  );

  test('that was created but not used is listed for deletion after the migration has ended', () => {
    const unused = { ...COMPANY, state: 'waiting', crossedAt: null } as const;
    const title = 'Created at the service but not used: delete them there';
    expect(rowsOf(unused, true)[title]).toContain('| company | connection |');
    expect(rowsOf(unused, false)).not.toHaveProperty([title]);
    expect(rowsOf({ ...unused, companyId: null }, true)).not.toHaveProperty([title]);
    // The client must not delete a company that existed before the migration.
    expect(rowsOf({ ...unused, existedBefore: true }, true)).not.toHaveProperty([title]);
    expect(rowsOf({ ...unused, crossedAt: COMPANY.crossedAt }, true)).not.toHaveProperty([title]);
  });

  test('is in exactly one section in every state', () => {
    for (const state of COMPANY_STATES) expect(Object.keys(rowsOf({ ...COMPANY, state }, true))).toHaveLength(1);
  });
});
