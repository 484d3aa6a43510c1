/** Tests that a person learns before an approval that the four-eyes rule requires another person. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { fourEyesTexts, otherPersonText } from '../../../domain/progress/four-eyes';
import { progressOf } from '../../../domain/progress/progress';
import {
  approve,
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
