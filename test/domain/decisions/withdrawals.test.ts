/** Tests that a decision says which approvals it withdraws, and that people see why they are asked again. */
import { reopenedText } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import {
  approve,
  counts,
  decideAll,
  decideOne,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

const SIGN_OFF = 'complete-migration';
const atTheEnd = stateAt(SIGN_OFF, { counts: counts({ total: 3, moved: 2, failed: 1 }) });
const rejected = decideAll(atTheEnd, reject(SIGN_OFF, 'support'));
const signed = decideAll(rejected, approve(SIGN_OFF, 'client'));
const retry = { kind: 'retry', role: 'support', companies: ['acme-3'] } as const;

test('an accepted sign-off ends the notice of an older rejection', () => {
  expect(rejected.reopened).toMatchObject({ step: SIGN_OFF });
  expect(signed.reopened).toBeNull();
  expect(waitingForOf(signed).what).toBe('sign off the handover');
});

test('a decision about companies says whose sign-off it withdraws, and the notice says why it must be repeated', () => {
  const { state, outcome } = decideOne(signed, retry);
  expect(outcome.text).toMatch(/^1 company will be tried again; this withdraws the sign-off of .+ \(client\)$/);
  expect(state.reopened).toMatchObject({ withdrawn: ['client'], reason: '1 company will be tried again (acme-3)' });
  expect(reopenedText({ reopened: state.reopened ?? null })).toMatch(
    /^Sign-off of client withdrawn by .+ \(support\) at .+\(acme-3\)/,
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

test('a decision that withdraws no approval does not mention approvals', () => {
  expect(decideOne(rejected, retry).outcome.text).toBe('1 company will be tried again');
});
