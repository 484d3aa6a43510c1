import { progressOf } from '../../../domain/progress/progress';
import { withRecordedTimes } from '../../../domain/progress/step-times';
import { AT, migrationPlan, stateAt } from '../../support/migrations/migration-states';

const BEFORE = '2026-03-02T08:00:00.000Z';
const AFTER = '2026-03-02T12:00:00.000Z';

const timesWith = (syncDisabledAt: string | null) =>
  withRecordedTimes(progressOf(migrationPlan(), stateAt('migrate-first-company')).steps, syncDisabledAt).map(
    ({ openedAt, endedAt }) => [openedAt, endedAt],
  );
const FIRST_THREE = [
  [null, AT],
  [AT, AT],
  [AT, AT],
];

test('step 4 ends with the last confirmation before a company began to move, and step 5 opens then', () => {
  expect(timesWith(AFTER)).toEqual([...FIRST_THREE, [AT, AFTER], [AFTER, null], [null, null]]);
});

test('step 4 ends as soon as it opens if all companies were confirmed before', () => {
  expect(timesWith(BEFORE)).toEqual([...FIRST_THREE, [AT, AT], [AT, null], [null, null]]);
});

test('step 4 has no end if its confirmations are not known', () => {
  expect(timesWith(null)).toEqual([...FIRST_THREE, [AT, null], [null, null], [null, null]]);
});
