/** Tests that the answer to a decision says when the next window opens, if companies are tried again only then. */
import type { Window } from '../../../domain/planning/windows';
import { WEEKDAYS } from '../../../domain/planning/windows';
import type { DecisionDraft } from '../../support/migrations/migration-states';
import { counts, decideOne, stateAt } from '../../support/migrations/migration-states';

/** The decisions are made at 10:00. */
const daily = (from: string, to: string): Window => ({ days: WEEKDAYS, from, to, timeZone: 'UTC' });
const LATER_TODAY = daily('13:00', '15:00');

const texts = (draft: DecisionDraft, windows: readonly Window[]) => {
  const state = stateAt('complete-migration', { counts: counts({ total: 3, moved: 2, failed: 1 }) });
  return decideOne({ ...state, limits: { ...state.limits, windows } }, draft).outcome;
};

const retry: DecisionDraft = { kind: 'retry', role: 'support', companies: ['acme-3'] };
const replace: DecisionDraft = { kind: 'replace-credential', role: 'support', companies: ['acme-3'] };

test.each<[string, DecisionDraft, string]>([
  ['a retry', retry, '1 company will be tried again'],
  ['a new credential', replace, '1 company will be tried again with a new credential'],
])('%s outside the windows says when the next one opens', (_, draft, text) => {
  const waits =
    '; no move begins before 2026-03-02 13:00 UTC, when the next window opens, unless the windows are changed';
  expect(texts(draft, [LATER_TODAY])).toMatchObject({ applied: true, text: `${text}${waits}` });
  expect(texts(draft, [daily('09:00', '15:00')])).toMatchObject({ applied: true, text });
  expect(texts(draft, [])).toMatchObject({ applied: true, text });
});

test('other decisions do not mention the next window', () => {
  const skip: DecisionDraft = { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'gone' };
  expect(texts(skip, [LATER_TODAY]).text).toBe('1 company will not be moved: gone');
});
