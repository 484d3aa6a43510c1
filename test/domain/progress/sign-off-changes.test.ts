/** Tests what people read about outcomes that have changed since a sign-off. */
import {
  changedText,
  signedBeforeText,
  signOffAgainText,
  sinceOwnSignOffText,
  type ChangedSinceSignOff,
} from '../../../domain/progress/sign-off-changes';
import { NO_COUNTS } from '../../../domain/companies/counts';
import { approve, counts, decideAll, firstCompany, stateAt } from '../../support/migrations/migration-states';
import { facts, warned, whyOf } from './go-nogo-sample';

const CHANGE: ChangedSinceSignOff = {
  ...{ role: 'client', by: 'Cleo', at: '2026-11-28T07:46:12.000Z' },
  changed: [
    { state: 'not-moved', companies: 1, references: ['E-3'] },
    { state: 'moved', companies: 1_204, references: ['E-4', 'E-5', 'E-6', 'E-7', 'E-8'] },
  ],
};

test('the companies are named by their new outcome, with the number of the others', () => {
  expect(changedText(CHANGE)).toBe('not moved: E-3; moved: E-4, E-5, E-6, E-7, E-8 and 1,199 more');
});

test('a reference cannot break the line', () => {
  const changed = [{ state: 'must-reconnect', companies: 1, references: [`E\n${'3'.repeat(60)}`] }] as const;
  expect(changedText({ changed })).toBe(`must reconnect: E ${'3'.repeat(38)}...`);
});

test('people read who signed off before the change, and how both sides sign off again', () => {
  const changed = 'not moved: E-3; moved: E-4, E-5, E-6, E-7, E-8 and 1,199 more';
  expect(signedBeforeText(CHANGE)).toBe(
    `the client signed off at 2026-11-28 07:46 UTC, before these outcomes: ${changed}`,
  );
  expect(signOffAgainText({ ...CHANGE, role: 'support' }, { migrationId: 'kite.xero', counts: NO_COUNTS })).toBe(
    `Support signed off at 2026-11-28 07:46 UTC, before these outcomes: ${changed}. If support no longer accepts the result, reject the handover; both sides then sign off again: ferry reject kite.xero complete-migration --reason "why"`,
  );
});

test('while a company can move, no rejection is suggested, because it would be refused', () => {
  const progress = { migrationId: 'kite.xero', counts: { ...NO_COUNTS, total: 3, waiting: 1, moved: 2 } };
  expect(signOffAgainText(CHANGE, progress)).toBe(
    'The client signed off at 2026-11-28 07:46 UTC, before these outcomes: not moved: E-3; moved: E-4, E-5, E-6, E-7, E-8 and 1,199 more',
  );
});

test('the client is asked to reject the handover only while it can', () => {
  const since = 'Since your sign-off at 2026-11-28 07:46 UTC, these outcomes are new: not moved: E-3';
  const change = { ...CHANGE, changed: CHANGE.changed.slice(0, 1) };
  expect(sinceOwnSignOffText(change, false)).toBe(`${since}.`);
  expect(sinceOwnSignOffText(change, true)).toBe(
    `${since}. If you no longer accept the result, reject the handover; your sign-off then no longer counts.`,
  );
});

test('go-nogo warns of a change since a sign-off', () => {
  const last = { counts: counts({ total: 3, moved: 3 }), firstCompany: firstCompany() };
  const signedOff = decideAll(stateAt('complete-migration', last), approve('complete-migration', 'client'));
  expect(warned(facts({}, signedOff))).not.toContain('companies');
  const given = facts({ changedSinceSignOff: [{ ...CHANGE, changed: CHANGE.changed.slice(0, 1) }] }, signedOff);
  expect(whyOf(given, 'companies')).toBe(
    'every company has a final outcome: 3 of 3 companies moved; the client signed off at 2026-11-28 07:46 UTC, before these outcomes: not moved: E-3',
  );
  expect(warned(given)).toContain('companies');
});
