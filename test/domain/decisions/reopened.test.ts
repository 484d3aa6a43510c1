import { withLedgerOutcomes } from '../../../domain/decisions/decide';
import { withStepEnded } from '../../../domain/decisions/step-transitions';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { progressOf, reopenedText } from '../../../domain/progress/progress';
import {
  decideAll,
  decideOne,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

const textOf = (state: MigrationState) => reopenedText(progressOf(migrationPlan(), state));

test('a rejection is kept with its person, reason and time until the step has ended', () => {
  const before = stateAt('update-application');
  const { state } = decideOne(before, { ...reject('supply-details', 'support'), reason: 'typo in the URL' });
  expect(state.reopened).toEqual({
    ...{ step: 'supply-details', by: 'Sam', role: 'support', reason: 'typo in the URL', at: LATER },
    asksForChanges: true,
  });
  const text = 'Step 1 rejected by Sam (support) at 2026-03-02 10:00 UTC: typo in the URL';
  expect(textOf(state)).toBe(`${text}; nothing has been changed since`);
  const changed = decideAll(state, { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 });
  expect(textOf(changed)).toBe(text);
  expect(textOf(withStepEnded(state, 'supply-details', LATER))).toBeNull();
});

test('a rejection of a step that is still open does not say that the step was reopened', () => {
  const open = stateAt('supply-details', { preflight: preflight() });
  expect(textOf(decideAll(open, reject('supply-details', 'support')))).toMatch(/^Step 1 rejected by Sam/);
  expect(textOf(decideAll(stateAt('schedule'), reject('schedule', 'client')))).toMatch(/^Step 2 rejected by Cleo/);
});

test('the reason is kept until the step that it concerns has ended', () => {
  const rejected = decideAll(stateAt('update-application'), reject('schedule', 'client'));
  expect(textOf(rejected)).toBe('Step 2 rejected by Cleo (client) at 2026-03-02 10:00 UTC');
  expect(withStepEnded(rejected, 'supply-details', LATER).reopened).toBe(rejected.reopened);
});

test('a start that is proposed after step 2 reopens the step, and a start that is proposed in step 2 does not', () => {
  expect(textOf(decideAll(stateAt('schedule'), proposeTime('client')))).toBeNull();
  expect(textOf(decideAll(stateAt('disable-syncing'), proposeTime('client')))).toMatch(/^Step 2 reopened by Cleo/);
});

test('a start that is proposed after step 2 was rejected while open does not turn the rejection into a reopening', () => {
  const rejected = decideAll(stateAt('schedule'), reject('schedule', 'client'));
  expect(textOf(decideAll(rejected, proposeTime('support')))).toBe(textOf(rejected));
  const reopened = decideAll(stateAt('disable-syncing'), proposeTime('client'));
  expect(textOf(decideAll(reopened, reject('schedule', 'client')))).toMatch(/^Step 2 rejected by Cleo/);
});

test('what an earlier version recorded about step 2 is called neither a reopening nor a rejection', () => {
  const reopened = { step: 'schedule', by: 'Cleo', role: 'client', reason: null, at: LATER } as const;
  expect(textOf(stateAt('schedule', { reopened }))).toMatch(/^Step 2 reopened or rejected by Cleo \(client\)/);
  expect(textOf(stateAt('disable-syncing', { reopened: { ...reopened, step: 'disable-syncing' } }))).toMatch(
    /^Step 4 rejected by Cleo/,
  );
});

test('the rejection of a first company names the company, and an abandoned or cancelled migration shows no rejection', () => {
  const before = stateAt('migrate-first-company', { firstCompany: firstCompany() });
  const again = reject('migrate-first-company', 'support', { afterwards: { next: 'same-company' } });
  const rejected = decideAll(before, again);
  expect(textOf(rejected)).toMatch(/^First company acme-1 rejected by Sam \(support\)/);
  const abandon = reject('migrate-first-company', 'support', { afterwards: { next: 'abandon' } });
  const abandoned = decideAll(before, abandon);
  expect(abandoned.reopened).toBeNull();
  expect(abandoned.endedBy).toEqual({ by: 'Sam', role: 'support', reason: null, at: LATER });
  expect(textOf({ ...rejected, closed: 'cancelled' })).toBeNull();
});

test('a rejection that the ledger refuses is undone, even after the state was carried over as JSON', () => {
  const { reopened: _, ...before } = stateAt('update-application');
  const { state, outcome } = decideOne(before, reject('supply-details', 'support'));
  const carried = JSON.parse(JSON.stringify(state)) as MigrationState;
  const undone = withLedgerOutcomes(carried, [{ ...outcome, applied: false, text: 'no' }], DEFAULT_DECISION_RULES);
  expect(undone.step).toBe('update-application');
  expect(undone.reopened).toBeNull();
});
