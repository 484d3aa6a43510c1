/** Tests when the desk refuses an approval without asking who decides. */
import { refusalForEveryRole } from '../../../cli/shared/approval-refusal';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';

const refusal = (...[step, changes]: Parameters<typeof stateAt>) =>
  refusalForEveryRole(progressOf(migrationPlan(), stateAt(step, changes)), step);

test('the handover cannot be signed off while companies are moving', () => {
  const moving = { counts: counts({ total: 9, moved: 5, syncing: 3, waiting: 1 }) };
  expect(refusal('complete-migration', moving)).toBe('4 companies have no final outcome yet');
  expect(refusal('complete-migration', { counts: counts({ total: 9, moved: 9 }) })).toBeNull();
});

test('a step that one of two roles has approved can still be approved', () => {
  const approval = { step: 'schedule', role: 'support', by: 'Sam', at: AT } as const;
  const proposal = { startAt: AT, role: 'support', by: 'Sam', at: AT } as const;
  expect(refusal('schedule', { proposal, approvals: [approval] })).toBeNull();
  expect(refusal('schedule', {})).toBe('there is no start time to approve; propose one first');
});

test('a step that needs no approval cannot be approved', () => {
  expect(refusal('disable-syncing', {})).toMatch(/^step 4 .* needs no approval: /);
});
