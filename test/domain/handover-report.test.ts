import type { ReportedCompany, ReportHead } from '../../domain/handover-report';
import { movedLine, notMovedLine, openLine, reportDecisions, reportHead } from '../../domain/handover-report';
import { NO_COUNTS } from '../../domain/company-state';

const HEAD: ReportHead = {
  migrationId: 'acme.quickbooks-online',
  client: 'acme',
  platformKey: 'qhyg',
  contact: 'Sam, +44 20 7946 0000',
  ending: null,
  paused: false,
  suppliedAt: '2026-11-20T22:00:00.000Z',
  closedAt: null,
  vaultDestroyedAt: null,
  counts: { ...NO_COUNTS, total: 3, migrated: 1, failed: 1, waiting: 1 },
  decisions: [
    {
      decision: { kind: 'pause', decisionId: '1', role: 'support', by: 'Sam', reason: 'tea' },
      outcome: { decisionId: '1', applied: true, text: 'paused', at: '2026-11-20T22:01:00.000Z' },
    },
    {
      decision: {
        kind: 'step',
        decisionId: '2',
        role: 'client',
        by: 'Cleo',
        step: 'supply-details',
        verdict: 'approve',
      },
      outcome: { decisionId: '2', applied: false, text: 'not by client', at: '2026-11-20T22:02:00.000Z' },
    },
  ],
};

const COMPANY: ReportedCompany = {
  reference: 'C-1',
  name: 'Bramble | Finch\nInteriors',
  storedName: 'Bramble Finch Interiors',
  organization: '91',
  state: 'migrated',
  companyId: 'company',
  connectionId: 'connection',
  linkUrl: 'https://link.example/1',
  movedAt: '2026-11-20T22:03:00.000Z',
  failure: null,
  failureText: null,
  correlationId: 'quoted',
  evidence: [{ check: 'invoices complete', passed: true, detail: '3 expected, 3 found' }],
};

test.each([
  [{}, 'State: under way: this report is preliminary'],
  [{ paused: true }, 'State: paused: this report is preliminary'],
  [{ ending: 'completed' as const, closedAt: '2026-11-20T23:00:00.000Z' }, 'closed: 2026-11-20 23:00 UTC'],
  [{ vaultDestroyedAt: '2026-11-20T23:00:00.000Z' }, 'was destroyed at 2026-11-20 23:00 UTC'],
])('a report of %j says: %s', (changes, said) => {
  expect(reportHead({ ...HEAD, ...changes })).toContain(said);
});

test('what was refused stands apart from what was decided, with its reason', () => {
  const [decided, refused] = reportDecisions(HEAD).split('## Refused');
  expect(decided).toContain('| 2026-11-20 22:01 UTC | Sam (support) | pause (tea) |');
  expect(decided).not.toContain('Cleo');
  expect(refused).toContain('| Cleo (client) | approve supply-details | not by client |');
});

test('what a client wrote breaks neither a cell nor a row', () => {
  const cells = movedLine(COMPANY);
  expect(cells).toContain('| Bramble \\| Finch Interiors |');
  expect(cells.split('\n')).toHaveLength(1);
});

test.each([
  ['reauthorization-required' as const, 'the end customer connects again at https://link.example/1'],
  ['incomplete' as const, 'support looks at the sync'],
  ['wrong-organization' as const, 'ferry credentials'],
  ['refused' as const, 'quoting the correlation id'],
])('%s: the report says what to do: %s', (failure, whatToDo) => {
  const line = notMovedLine({ ...COMPANY, state: 'failed', failure, failureText: 'why' });
  expect(line).toContain('| why |');
  expect(line).toContain(whatToDo);
  expect(line).toContain('| quoted |');
});

test('an open company is reported in the words of a client', () => {
  expect(openLine({ ...COMPANY, state: 'importing' })).toMatch(/\| moving \|$/);
  expect(openLine({ ...COMPANY, state: 'waiting', failureText: 'the platform is unavailable' })).toMatch(
    /\| not moved: the platform is unavailable \|$/,
  );
});
