/** The consequences that commands and the dashboard show before they ask for confirmation. */
import { approvalConsequence } from '../../../cli/shared/consequences';
import { localTime } from '../../../cli/terminal/times';
import { progressOf } from '../../../domain/progress/progress';
import { decideAll, migrationPlan, proposeTime, START_AT, stateAt } from '../../support/migrations/migration-states';

test('the approval of a start says when the first window after it opens', () => {
  const progress = progressOf(migrationPlan(), decideAll(stateAt('schedule'), proposeTime('support')));
  expect(approvalConsequence('schedule', progress)).toContain(`not before ${localTime(START_AT)}, the first company`);
  const sunday = { days: ['sun'], from: '06:00', to: '08:00', timeZone: 'UTC' } as const;
  expect(approvalConsequence('schedule', { ...progress, windows: [sunday] })).toContain(
    `not before ${localTime('2026-03-08T06:00:00.000Z')}, the first company`,
  );
});
