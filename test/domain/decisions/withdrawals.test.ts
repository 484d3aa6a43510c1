/** Tests that a decision says which approvals it withdraws, and that people see why they are asked again. */
import { withdrawalText } from '../../../domain/decisions/withdrawals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf, reopenedText } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import {
  approve,
  counts,
  decideAll,
  decideOne,
  migrationPlan,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

const SIGN_OFF = 'complete-migration';
const atTheEnd = stateAt(SIGN_OFF, { counts: counts({ total: 3, moved: 2, failed: 1 }) });
const rejected = decideAll(atTheEnd, reject(SIGN_OFF, 'support'));
const signed = decideAll(atTheEnd, approve(SIGN_OFF, 'client'));
const retry = { kind: 'retry', role: 'support', companies: ['acme-3'] } as const;

test.each([
  ['support', 'client', 'Sam (support)', 'the client'],
  ['client', 'support', 'Cleo (client)', 'support'],
] as const)('a rejection by %s is shown until the same role signs off', (rejecting, other, by, otherText) => {
  const before = decideAll(atTheEnd, { ...reject(SIGN_OFF, rejecting), reason: 'solve acme-3 first' });
  const text = `Handover rejected by ${by} at 2026-03-02 10:00 UTC: solve acme-3 first`;
  const shown = (state: MigrationState) => reopenedText(progressOf(migrationPlan(), state));
  expect(shown(before)).toBe(text);
  expect(waitingForOf(before).what).toBe('resolve the problem for which the handover was rejected, and then sign off');

  const byOther = decideAll(before, approve(SIGN_OFF, other));
  expect(shown(byOther)).toBe(`${text}; ${otherText} signed off afterwards`);
  expect(waitingForOf(byOther)).toEqual({
    roles: [rejecting],
    what: 'check that the problem for which the handover was rejected has been resolved, and then sign off',
  });

  // A decision that withdraws the sign-off of the other role does not hide the rejection either.
  expect(shown(decideAll(byOther, retry))).toBe(text);

  const bySame = decideAll(before, approve(SIGN_OFF, rejecting));
  expect(shown(bySame)).toBeNull();
  expect(waitingForOf(bySame)).toEqual({ roles: [other], what: 'sign off the handover' });
});

test('a decision about companies says whose sign-off it withdraws, and the notice says why it must be repeated', () => {
  const { state, outcome } = decideOne(signed, retry);
  expect(outcome.text).toMatch(/^1 company will be tried again; this withdraws the sign-off of .+ \(client\)$/);
  expect(state.reopened).toMatchObject({ withdrawn: ['client'], reason: '1 company will be tried again (acme-3)' });
  expect(reopenedText({ reopened: state.reopened ?? null })).toMatch(
    /^Sign-off of the client withdrawn by .+ \(support\) at .+\(acme-3\)/,
  );
  expect(waitingForOf({ ...state, counts: counts({ total: 3, moved: 3 }) }).what).toBe('sign off the handover');
});

test('the notice ends once every side that had signed off has signed off again', () => {
  const both = decideAll(signed, approve(SIGN_OFF, 'support'));
  const again = { ...decideAll(both, retry), unrecorded: [] };
  expect(again.reopened?.withdrawn).toEqual(['client', 'support']);
  const bySupport = decideAll(again, approve(SIGN_OFF, 'support'));
  expect(bySupport.reopened?.withdrawn).toEqual(['client']);
  expect(decideAll(bySupport, approve(SIGN_OFF, 'client')).reopened).toBeNull();
});

test('another proposal says whose approval of the start it withdraws', () => {
  const approved = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'client'));
  const { outcome } = decideOne(approved, proposeTime('support'));
  expect(outcome.text).toMatch(/; this withdraws the approval of step 2 \(schedule the migration\) by .+ \(client\)$/);
});

test('three withdrawn approvals are a list with commas', () => {
  const schedule = { step: 'schedule', role: 'client', by: 'Cleo' } as const;
  expect(withdrawalText([schedule, { ...schedule, role: 'support', by: 'Sam' }, { ...schedule, step: SIGN_OFF }])).toBe(
    'the approval of step 2 (schedule the migration) by Cleo (client), the approval of step 2 (schedule the migration) by Sam (support), and the sign-off of Cleo (client)',
  );
});

test('a decision that withdraws no approval does not mention approvals', () => {
  expect(decideOne(rejected, retry).outcome.text).toBe('1 company will be tried again');
});
