/** The consequences that commands and the dashboard show before they ask for confirmation. */
import { approvalConsequence, endingConsequence } from '../../../cli/shared/consequences';
import { localTime } from '../../../cli/terminal/times';
import { progressOf } from '../../../domain/progress/progress';
import {
  counts,
  decideAll,
  migrationPlan,
  proposeTime,
  START_AT,
  stateAt,
} from '../../support/migrations/migration-states';

test('the approval of a start says when the first window after it opens', () => {
  const progress = progressOf(migrationPlan(), decideAll(stateAt('schedule'), proposeTime('support')));
  expect(approvalConsequence('schedule', progress)).toContain(`not before ${localTime(START_AT)}, the first company`);
  const sunday = { days: ['sun'], from: '06:00', to: '08:00', timeZone: 'UTC' } as const;
  expect(approvalConsequence('schedule', { ...progress, windows: [sunday] })).toContain(
    `not before ${localTime('2026-03-08T06:00:00.000Z')}, the first company`,
  );
});

test('the end of a migration mentions moved companies only if some have moved or are moving', () => {
  const consequence = (changes: Parameters<typeof counts>[0]) =>
    endingConsequence(progressOf(migrationPlan(), stateAt('complete-migration', { counts: counts(changes) })));
  expect(consequence({ total: 3, waiting: 3 })).toBe(
    'no company has moved, none will be moved, and all supplied credentials will be destroyed',
  );
  expect(consequence({ total: 3, waiting: 2, syncing: 1 })).toContain('companies that have moved stay moved (0 of 3');
  expect(consequence({ total: 3, waiting: 1, moved: 2 })).toContain('companies that have moved stay moved (2 of 3');
});
