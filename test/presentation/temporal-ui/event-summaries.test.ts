import type { Decision } from '../../../domain/migration/decision';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { decisionsSummary, noticeSummary } from '../../../presentation/temporal-ui/event-summaries';
import { AT } from '../../support/migrations/migration-states';

const approval: Decision = {
  ...{ kind: 'step', step: 'schedule', verdict: 'approve' },
  ...{ decisionId: 'd-1', role: 'client', by: 'Cleo' },
};
const recordOf = (decision: DecisionRecord['decision'], applied = true): DecisionRecord => ({
  decision,
  outcome: { decisionId: decision.decisionId, applied, text: 'anything', at: AT },
});

test('the summary says who decided what, and that a decision was refused', () => {
  expect(decisionsSummary([recordOf(approval)])).toBe('Cleo (client): approve step 2 (schedule the migration)');
  expect(decisionsSummary([recordOf(approval, false)])).toBe(
    'refused: Cleo (client): approve step 2 (schedule the migration)',
  );
  const unreadable = { kind: 'unreadable', decisionId: 'd', message: 'approve', role: null, by: null } as const;
  expect(decisionsSummary([recordOf(unreadable, false)])).toBe('refused: an unreadable message');
});

test('the summary of several decisions describes the first decision, and gives the number of the other decisions', () => {
  const pause: Decision = { kind: 'pause', decisionId: 'd-2', role: 'support', by: 'Sam' };
  expect(decisionsSummary([recordOf(approval), recordOf(pause), recordOf(pause)])).toBe(
    'Cleo (client): approve step 2 (schedule the migration) (and 2 more)',
  );
});

test('the summary contains no reason and no control characters', () => {
  const skip: Decision = {
    ...{ kind: 'skip', companies: ['R-1', 'R-2'], reason: 'bankrupt' },
    ...{ decisionId: 'd-3', role: 'support', by: 'Sam\nCleo' },
  };
  expect(decisionsSummary([recordOf(skip)])).toBe('Sam Cleo (support): skip R-1, R-2');
});

test("the summary is within Temporal's limit of 200 bytes, for any text that people wrote", () => {
  for (const character of ['x', 'é', '\u{1F98A}']) {
    const companies = Array.from({ length: 50 }, () => character.repeat(30));
    const decision: Decision = {
      ...{ kind: 'retry', companies, decisionId: 'd-4' },
      ...{ role: 'client', by: character.repeat(100) },
    };
    const summary = decisionsSummary([recordOf(decision, false), recordOf(decision)]);
    expect(summary).toMatch(/^refused: .+\.\.\. \(and 1 more\)$/u);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(160);
    expect(Buffer.from(summary).toString()).toBe(summary);
  }
});

test('the summary of a notice says to whom it is sent, or what has happened', () => {
  expect(noticeSummary('reminder', ['client', 'support'])).toBe('Send a notice: reminder to client and support');
  expect(noticeSummary('escalation', ['client'])).toBe('Send a notice: client has not acted for a long time');
  expect(noticeSummary('stopped', ['support'])).toBe('Send a notice: the migration has paused itself');
});
