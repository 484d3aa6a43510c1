/** Tests that a person learns before an approval that the four-eyes rule requires another person. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { withActingRoles } from '../../../domain/progress/acting-roles';
import { fourEyesTexts, otherPersonText, taskForSupport } from '../../../domain/progress/four-eyes';
import { progressOf } from '../../../domain/progress/progress';
import {
  approve,
  AT,
  decideAll,
  migrationPlan,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';

const of = (state: MigrationState, fourEyes = true) =>
  progressOf(migrationPlan({ decisions: { ...DEFAULT_DECISION_RULES, fourEyes } }), state);
const sam = (step: 'supply-details' | 'schedule') => ({ step, role: 'support', by: 'sam ' }) as const;

const CHECKED = stateAt('supply-details', {
  preflight: preflight({ suppliedBy: 'Mia' }),
  suppliers: ['Sam', 'Mia'],
});

test('the people who have supplied the details cannot accept them', () => {
  expect(fourEyesTexts(of(CHECKED))).toEqual([
    'Four-eyes rule: someone other than Mia or Sam must approve this step as support',
  ]);
  expect(otherPersonText(of(CHECKED), sam('supply-details'))).toContain('someone else must approve them');
  expect(otherPersonText(of(CHECKED), { ...sam('supply-details'), by: 'Kim' })).toBeNull();
});

test('the person who has approved as one role cannot approve as the other', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'client'));
  expect(fourEyesTexts(of(proposed))).toEqual([
    'Four-eyes rule: someone other than Sam or Cleo must approve this step as support',
  ]);
});

test('without the rule, nobody is excluded', () => {
  expect(fourEyesTexts(of(CHECKED, false))).toEqual([]);
  expect(otherPersonText(of(CHECKED, false), sam('supply-details'))).toBeNull();
});

describe('if the rule excludes every approver of a role', () => {
  const signedBy = (state: MigrationState, ...people: readonly (readonly ['client' | 'support', string])[]) => {
    const approvers = people.map(([role, by]) => ({ role, by, publicKey: by }));
    const decisions = { ...DEFAULT_DECISION_RULES, fourEyes: true, approvers };
    return withActingRoles(progressOf(migrationPlan({ decisions }), state));
  };
  const proposed = decideAll(stateAt('schedule'), proposeTime('client'));
  const CARL = ['client', 'Carl'] as const;

  test('support has to add another approver, and the task ends with the command', () => {
    const stuck = signedBy(CHECKED, ['support', 'Sam'], ['client', 'Cleo'], CARL);
    expect(taskForSupport(stuck, AT)).toBe(
      'accept the supplied details; the four-eyes rule excludes every approver for support, so add another with: ferry approver add acme.quickbooks-online "support:name:key"',
    );
    expect(fourEyesTexts(stuck)).toEqual([
      'Four-eyes rule: no approver for support can approve this step; add another approver',
    ]);
  });

  test('the client still has to approve, after another proposal or with another approver', () => {
    const alone = signedBy(proposed, ['support', 'Sam'], ['client', 'Cleo']);
    expect(alone.waitingFor.roles).toEqual(['client', 'support']);
    expect(taskForSupport(alone, AT)).toContain(
      '; the four-eyes rule excludes every approver for the client, so have another person propose the time, or add another with: ',
    );
    const approved = decideAll(proposed, approve('schedule', 'support'));
    expect(signedBy(approved, ['support', 'Sam'], ['client', 'Cleo']).waitingFor.roles).toEqual(['client']);
  });

  test('another approver, or decisions without signatures, need no addition', () => {
    const other = signedBy(CHECKED, ['support', 'Sam'], ['support', 'Ann'], ['client', 'Cleo']);
    expect(taskForSupport(other, AT)).toBe('accept the supplied details');
    expect(taskForSupport(of(CHECKED), AT)).toBe('accept the supplied details');
  });
});
