/** The consequences that commands and the dashboard show before they ask for confirmation. */
import { approvalConsequence, endingConsequence, lastCompaniesConsequence } from '../../../cli/shared/consequences';
import { localTime } from '../../../cli/terminal/times';
import { progressOf, type Progress } from '../../../domain/progress/progress';
import {
  AT,
  counts,
  decideAll,
  migrationPlan,
  proposeTime,
  START_AT,
  stateAt,
} from '../../support/migrations/migration-states';

test('the approval of a start says when the first window after it opens, unless the moves can begin now', () => {
  const progress = progressOf(migrationPlan(), decideAll(stateAt('schedule'), proposeTime('support')));
  const consequence = (changes: Partial<Progress>, now = AT) =>
    approvalConsequence('schedule', { ...progress, ...changes }, new Date(now));
  expect(consequence({})).toContain(`not before ${localTime(START_AT)}, the first company`);
  const sunday = { days: ['sun'], from: '06:00', to: '08:00', timeZone: 'UTC' } as const;
  const opening = `not before ${localTime('2026-03-08T06:00:00.000Z')}, the first company`;
  expect(consequence({ windows: [sunday] })).toContain(opening);
  const afterStart = '2026-03-07T21:00:00.000Z';
  expect(consequence({}, afterStart)).toMatch(/^once steps 2 to 4 have ended, the first company/);
  expect(consequence({ windows: [sunday] }, afterStart)).toContain(opening);
});

test('the approvals of the first company and of the handover cannot be undone', () => {
  const progressWith = (waiting: number) =>
    progressOf(
      migrationPlan(),
      stateAt('migrate-first-company', { counts: counts({ total: waiting + 1, moved: 1, waiting }) }),
    );
  const progress = progressWith(25);
  const first = (each: Progress | undefined) => approvalConsequence('migrate-first-company', each);
  expect(first(progress)).toMatch(/cannot be undone: the remaining 25 companies may be moved, and a company/);
  expect(first(progressWith(1))).toMatch(/cannot be undone: the remaining company may be moved, and a company/);
  expect(first(progressWith(0))).toMatch(/cannot be undone: step 6 begins, and a company/);
  expect(first(undefined)).toMatch(/cannot be undone: the remaining companies may be moved, and a company/);
  expect(approvalConsequence('complete-migration', progress)).toMatch(
    /cannot be undone: no more companies can be moved, and the stored credentials are destroyed/,
  );
});

test('the end of a migration mentions moved companies only if some have moved or are moving', () => {
  const consequence = (changes: Parameters<typeof counts>[0]) =>
    endingConsequence(progressOf(migrationPlan(), stateAt('complete-migration', { counts: counts(changes) })));
  expect(consequence({ total: 3, waiting: 3 })).toBe(
    'no company has moved, none will be moved, and all supplied credentials will be destroyed',
  );
  expect(consequence({ total: 3, waiting: 2, syncing: 1 })).toBe(
    'no more moves will begin, 1 company whose credential has already been handed over will be checked to the end, all supplied credentials will be destroyed, and companies that have moved stay moved (0 of 3 companies so far)',
  );
  // Companies whose credential was not sent are set back to waiting, so 3 is only the maximum.
  expect(consequence({ total: 3, importing: 2, syncing: 1 })).toContain(
    'no more moves will begin, up to 3 companies whose credentials have already been handed over will be checked',
  );
  expect(consequence({ total: 3, waiting: 1, moved: 2 })).toContain('companies that have moved stay moved (2 of 3');
});

test('the decision about the last companies ends a self-service migration', () => {
  const open = { route: 'self-service', counts: counts({ total: 3, moved: 1, failed: 2 }) } as const;
  const progress = progressOf(migrationPlan({ route: 'self-service' }), stateAt('complete-migration', open));
  expect(lastCompaniesConsequence(progress, 1)).toBeNull();
  expect(lastCompaniesConsequence({ ...progress, state: 'paused' }, 2)).toBe(
    'No company is then left, so the migration ends automatically, even while it is paused, and the stored credentials are destroyed',
  );
});
