/** Tests the parts of the handover report that concern the whole migration. */
import { outOfDateText, type ReportHead } from '../../../presentation/handover/report-facts';
import { pageTail } from '../../../presentation/handover/html-page';
import { reportDecisions, reportHead } from '../../../presentation/handover/markdown-report';
import { hoursText } from '../../../domain/text/sentences';
import { NO_COUNTS } from '../../../domain/companies/counts';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { HEAD, recorded, sender } from './report-head';

describe('the head of the report', () => {
  test.each<[Partial<ReportHead>, string]>([
    [{}, 'State: in progress (this report is preliminary)'],
    [
      { ledgerBehind: true },
      'State: in progress (this report is preliminary). The numbers in this report can be wrong, because the records of the migration are out of date. Ask support for a new report once it has repaired them\n',
    ],
    [{ paused: true }, 'State: paused (this report is preliminary)'],
    [
      { ending: 'cancelled', isFinishing: true, counts: { ...HEAD.counts, syncing: 1 } },
      'State: cancelled (this report is preliminary: companies that were being moved are still being checked)',
    ],
    [
      { ending: 'cancelled', isFinishing: true },
      'State: cancelled (this report is preliminary: the migration is still being closed)',
    ],
    [{ ending: 'cancelled', isFinishing: true }, '**Stored**: none at the moment. The migration has ended'],
    [{ ending: 'completed', closedAt: '2026-11-20T23:00:00.000Z' }, '| migration closed |  | 20 Nov 23:00 |'],
    [{}, 'Who to call: Sam, +44 20 7946 0000'],
    [{}, 'Details supplied: 20 Nov 2026 22:00 by Cleo'],
    [{}, 'Times: all in UTC'],
    [{}, '**Stored**: none at the moment. Until the migration ends'],
    [{ figures: { ...HEAD.figures, credentialsLeft: 2 } }, '**Stored**: 2 credentials, in encrypted form.'],
    [{}, '| must reconnect | 1 |'],
    [{}, '| not moved | 1 |'],
    [
      { vaultDestroyedAt: '2026-11-20T23:00:00.000Z' },
      'was erased at 20 Nov 2026 23:00. No credential is left in our database. Encrypted copies can remain',
    ],
    [{}, '**To delete on your side**: every export'],
    [{}, '| data of moved companies out of date |  | at most 6.3 hours, median 2 hours |'],
    [
      { figures: { ...HEAD.figures, longestStaleHours: 0.1, medianStaleHours: 0.05 } },
      '| data of moved companies out of date |  | at most 6 minutes, median 3 minutes |',
    ],
    [{ closedAt: '2027-01-01T00:05:00.000Z' }, '| migration closed |  | 1 Jan 2027 00:05 |'],
    [{}, '- **Send the link to each company that must reconnect** (1): its end customer'],
    [{ ending: 'completed' }, '- **Delete your copies of the credentials**: exports'],
    [{}, '| duration |  | 2.5 h |'],
    [
      { figures: { ...HEAD.figures, movingMs: 2_700_000 } },
      '| duration |  | 45 min while companies were moving, 2.5 h in all |',
    ],
  ])('contains, with the changes %j: %s', (changes, text) => {
    expect(reportHead({ ...HEAD, ...changes })).toContain(text);
  });

  test.each<[string, Partial<ReportHead>, boolean]>([
    ['on a platform that rotates tokens', {}, true],
    ['on a platform that does not rotate tokens', { platformKey: 'rwuv' }, false],
    ['in self-service', { route: 'self-service' }, false],
  ])(
    'asks for an export after the confirmation only where earlier credentials do not count: %s',
    (_, changes, asks) => {
      const head = reportHead({ ...HEAD, counts: { ...HEAD.counts, withoutCredential: 2 }, ...changes });
      expect(head).toContain('- **Supply credentials** (2): ');
      expect(head.includes('Export the credentials after you have confirmed that syncing is off.')).toBe(asks);
    },
  );

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
    const ends = { earliest: '2026-11-20T22:36:10.000Z', latest: '2026-11-20T22:40:20.000Z' };
    const unrounded = { ...expected, ends, staleHours: 620 / 3_600 };
    const approved = reportHead({ ...HEAD, planned: { startAt, estimate: unrounded } });
    expect(approved).toContain('| last company moved | 20 Nov 22:37 to 20 Nov 22:41 |');
    expect(approved).toContain('| data of moved companies out of date | up to 11 minutes |');
    const outside = { startAt, opensAt: '2026-11-20T22:45:00.000Z', estimate: expected };
    const ofOutside = reportHead({ ...HEAD, planned: outside });
    expect(ofOutside).toContain('| planned start | 20 Nov 22:30 |  |');
    expect(ofOutside).toContain('| first move began | 20 Nov 22:45 | 20 Nov 23:00 |');
    const end = '2026-11-20T22:31:00.000Z';
    const short = { ...expected, lowMs: 11_000, highMs: 11_000, ends: { earliest: end, latest: end } };
    const ofShort = reportHead({ ...HEAD, planned: { startAt, estimate: short } });
    expect(ofShort).toContain('| last company moved | about 20 Nov 22:31 | 21 Nov 01:30 |');
    expect(ofShort).toContain('| duration | about 11 s while companies are moving |');
  });

  test('shows for how many companies syncing may be switched back on, before and after the migration has ended', () => {
    expect(reportHead(HEAD)).toContain('- **Never** (4)');
    expect(reportHead(HEAD)).toContain('- **Ask first** (1)');
    expect(reportHead(HEAD)).toContain(
      '- **Not yet** (2): companies that can still be moved.\n- **Yes**: companies that were left out',
    );
    expect(reportHead({ ...HEAD, ending: 'cancelled' })).toContain(
      '- **Yes** (3): companies whose access was not handed over to us.',
    );
    expect(reportHead({ ...HEAD, ending: 'cancelled' })).toContain(
      '- **Until it reconnects** (1): companies that must reconnect. Their access was not handed over to us, so you may use',
    );
    const leftOut = { ...HEAD, ending: 'cancelled', figures: { ...HEAD.figures, leftOutUnauthorized: 1 } } as const;
    expect(reportHead(leftOut)).toContain('- **Yes** (2): ');
    expect(reportHead(leftOut)).toContain(
      '- **After a new authorization** (1): companies that had to reconnect but were left out, and whose access was not handed over to us. After the end customer of such a company has authorized your own application again, you may use the company there.',
    );
  });

  test('after the migration has ended, names the same companies in its actions as in its tables', () => {
    const ended = { ...HEAD, ending: 'completed', counts: { ...NO_COUNTS, total: 60, moved: 56, skipped: 4 } } as const;
    const figures = { ...HEAD.figures, crossed: 59, crossingUnknown: 0, movable: 0, mustReconnect: 0 };
    const head = reportHead({ ...ended, figures: { ...figures, leftOutAtService: 3 } });
    expect(head).toContain('- **Never** (59)');
    expect(head).toContain('- **Remove the stored tokens of the companies whose access was handed over to us** (59)');
    expect(head).toContain(
      '- **Ask support about the left-out companies whose access was handed over to us** (3): support can tell you',
    );
    expect(head).toContain(
      'You may use them in your own application, unless the tables below say otherwise for a company.',
    );
    expect(head).toContain('the stored tokens of the companies whose access was handed over to us, so that nothing');
    const all = { ...ended, counts: { ...NO_COUNTS, total: 59, moved: 59 } };
    expect(reportHead({ ...all, figures })).not.toContain('Ask support about the left-out companies');
  });

  test('about out-of-date companies, promises nothing that the tables forbid, and no links that do not exist', () => {
    const counts = { ...NO_COUNTS, total: 60, moved: 56, skipped: 4 };
    const figures = { ...HEAD.figures, crossed: 59, mustReconnect: 0 };
    const text = (changes: Partial<ReportHead>) => outOfDateText({ ...HEAD, ending: 'completed', counts, ...changes });
    const others =
      'If syncing is off for a company that was not moved, its data stays out of date until you switch syncing back on in your own application';
    const tables = 'The tables below say for which companies you may switch syncing back on.';
    const handedOver =
      '3 companies have not been moved although access was handed over to us. Never switch their syncing back on; the tables below say what to do.';
    expect(text({ figures })).toContain(`${others}. ${tables} ${handedOver}`);
    expect(text({ figures: { ...figures, crossed: 60 } })).not.toContain('stays out of date');
    const reconnecting = text({ figures: { ...figures, crossed: 56, mustReconnect: 1 } });
    expect(reconnecting).toContain(`${others}, or until its end customer reconnects. ${tables}`);
    expect(reconnecting).not.toContain('although');
    const all = { figures: { ...figures, crossed: 56 }, counts: { ...NO_COUNTS, total: 56, moved: 56 } };
    expect(text(all)).toMatch(
      /^The data of all moved companies was brought up to date when they moved\. Before that, it was out of date for .*\)\.$/,
    );
  });
});

test('refused decisions are listed separately, with the reason', () => {
  const [applied, refused] = reportDecisions(HEAD).split('## Refused');
  expect(applied).toContain('| 20 Nov 22:01 | Sam (support) | pause (tea) |');
  expect(applied).not.toContain('Cleo');
  expect(refused).toContain('| Cleo (client) | approve step 1 (supply details) | not by client |');
});

test('a sign-off that a later decision has withdrawn says so', () => {
  const signOff = { kind: 'step', step: 'complete-migration', verdict: 'approve' } as const;
  const decisions = [
    recorded({ ...signOff, ...sender('1', 'support') }, { applied: true, text: '' }, '2026-11-20T22:01:00.000Z'),
    recorded(
      { kind: 'replace-credential', ...sender('2', 'client'), companies: ['C-1'] },
      { applied: true, text: '' },
      '2026-11-20T22:05:00.000Z',
    ),
    recorded({ ...signOff, ...sender('3', 'support') }, { applied: true, text: '' }, '2026-11-20T22:09:00.000Z'),
  ];
  const withdrawn = '; withdrawn by the decision of Cleo (client) at 20 Nov 22:05';
  const lines = reportDecisions({ ...HEAD, decisions }).split('\n');
  expect(lines.find((line) => line.includes('22:01'))).toContain(`${withdrawn} |`);
  expect(lines.find((line) => line.includes('22:09'))).not.toContain('withdrawn');
  expect(pageTail({ ...HEAD, decisions }).split(withdrawn)).toHaveLength(2);
});

test('a confirmation that a later rejection of step 4 has withdrawn says so', () => {
  const confirmed = { kind: 'sync-disabled', companies: ['C-1', 'C-2'] } as const;
  const ok = { applied: true, text: '' };
  const decisions = [
    recorded({ ...confirmed, ...sender('1', 'client') }, ok, '2026-11-20T22:01:00.000Z'),
    recorded(
      { kind: 'step', step: 'disable-syncing', verdict: 'reject', ...sender('2', 'support') },
      ok,
      '2026-11-20T22:05:00.000Z',
    ),
    recorded({ ...confirmed, ...sender('3', 'client') }, ok, '2026-11-20T22:09:00.000Z'),
  ];
  const lines = reportDecisions({ ...HEAD, decisions }).split('\n');
  const text = 'confirm that syncing is off for 2 companies';
  const withdrawn =
    'withdrawn for companies that were waiting to be moved by the decision of Sam (support) at 20 Nov 22:05';
  expect(lines.find((line) => line.includes('| 20 Nov 22:01'))).toContain(`| ${text}; ${withdrawn} |`);
  expect(lines.find((line) => line.includes('| 20 Nov 22:09'))).toContain(`| ${text} |`);
});

test('text of people cannot become markup', () => {
  const link = '[Go](http://e.io)';
  expect(reportHead({ ...HEAD, contact: link, suppliedBy: link })).not.toContain('[Go]');
  const paused = recorded(
    { kind: 'pause', ...sender('9', 'support'), by: link, reason: link },
    { applied: false, text: link },
    '2026-11-20T22:01:00.000Z',
  );
  expect(reportDecisions({ ...HEAD, decisions: [paused] })).not.toContain('[Go]');
});

test('lists when no company moved, and why, in words for the client', () => {
  const stoppages: ReportHead['stoppages'] = [
    {
      ...{ kind: 'outage', stop: null, source: 'service' },
      ...{ beganAt: '2026-11-20T23:00:00.000Z', endedAt: '2026-11-20T23:01:42.000Z' },
    },
    { kind: 'pause', stop: 'key-refused', source: null, beganAt: '2026-11-20T23:30:00.000Z', endedAt: null },
  ];
  expect(reportDecisions(HEAD)).not.toContain('nobody had paused');
  const text = reportDecisions({ ...HEAD, stoppages });
  expect(text).toContain(
    '| 20 Nov 23:00 | 20 Nov 23:01 | Moves waited about 2 min, because no call got through to the Company Data Service |',
  );
  expect(text).toContain(
    '| 20 Nov 23:30 | not over yet | The migration paused automatically: the Company Data Service refuses access |',
  );
  expect(text).not.toContain('COMPANY_DATA_API_KEY');
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

describe('the report of a migration that was terminated in Temporal and is not closed yet', () => {
  const counts = { ...HEAD.counts, moved: 2, importing: 1 };
  const endedInTemporal = { status: 'terminated', at: '2026-11-26T14:57:00.000Z' } as const;
  const text = reportHead({ ...HEAD, counts, endedInTemporal });

  test('says that it was stopped, and what to do', () => {
    expect(text).toContain(
      '- State: stopped at 2026-11-26 14:57 UTC, so no company moves (this report is preliminary)',
    );
    expect(text).toContain('**Ask the contact under "Who to call" what happens next** (3): the migration was stopped');
    expect(text).not.toMatch(/in progress|still be moved|no task for you|waiting for now/);
  });

  test('counts the companies as show does', () => {
    expect(text).toContain('| not moved | 3 |');
    expect(text).toContain('| interrupted | 1 |');
    expect(text).not.toContain('not finished');
  });

  test('allows no switching back on', () => {
    const { total } = counts;
    const { crossed } = HEAD.figures;
    expect(text).toContain(
      `**Ask first** (${total - crossed}): all other companies, because the migration was stopped.`,
    );
    expect(text).not.toContain('**Yes**');
    const none = { counts: { ...NO_COUNTS, total: 9, waiting: 9 }, figures: { ...HEAD.figures, crossed: 0 } };
    expect(reportHead({ ...HEAD, ...none, endedInTemporal })).toContain(
      '**Ask first** (9): all companies, because the migration was stopped.',
    );
  });
});
