import {
  mayHaveCrossed,
  countReadyOrMoving,
  NO_COUNTS,
  countOpen,
  countFinished,
  isSameCounts,
  type Counts,
} from '../../../domain/companies/counts';
import { counts } from '../../support/migrations/migration-states';

const ONE_EACH = counts({
  total: 10,
  waiting: 3,
  unconfirmed: 1,
  withoutCredential: 1,
  importing: 1,
  syncing: 1,
  moved: 1,
  failed: 1,
  skipped: 1,
  excluded: 1,
  outcomeUnknown: 1,
});

describe('company counts', () => {
  test('count companies without a final outcome as open', () => expect(countOpen(ONE_EACH)).toBe(6));
  test('count companies that need nothing from anyone as ready or moving', () =>
    expect(countReadyOrMoving(ONE_EACH)).toBe(3));
  test('count companies that are not open as finished', () => expect(countFinished(ONE_EACH)).toBe(4));

  test.each<[keyof Counts, boolean]>([
    ['waiting', false],
    ['excluded', false],
    ['unconfirmed', false],
    ['importing', true],
    ['syncing', true],
    ['moved', true],
    ['failed', true],
    ['skipped', true],
    ['outcomeUnknown', true],
    ['waitingAgain', true],
  ])('with one company that is %s, a credential was possibly handed over: %s', (state, crossed) => {
    expect(mayHaveCrossed({ ...NO_COUNTS, [state]: 1 })).toBe(crossed);
  });
});

test('counts with the same references are equal, even if their lists are different objects', () => {
  const counted = () => ({ ...NO_COUNTS, withoutCredential: 2, firstWithoutCredential: ['a', 'b'] });
  expect(isSameCounts(counted(), counted())).toBe(true);
  expect(isSameCounts(counted(), { ...counted(), firstWithoutCredential: ['a', 'c'] })).toBe(false);
  expect(isSameCounts(counted(), { ...counted(), moved: 1 })).toBe(false);
});

test('a count that an older version did not know is a change when it is counted, but not when it is missing', () => {
  expect(isSameCounts({ ...NO_COUNTS, deferred: 1 }, NO_COUNTS)).toBe(false);
  expect(isSameCounts(NO_COUNTS, { ...NO_COUNTS, deferred: 1 })).toBe(true);
});
