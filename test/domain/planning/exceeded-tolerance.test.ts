/** Tests the numbers that an automatic pause states after too many failures. */
import { DEFAULT_LIMITS, exceededToleranceText } from '../../../domain/planning/limits';

test.each([
  [{ failed: 6, tried: 30, accepted: 0 }, 'which is 20% and more than the limit of 18%'],
  [
    { failed: 6, tried: 30, accepted: 2 },
    'which is 20% and more than the limit of 18%; the 6 do not include companies that had already failed when someone last resumed the migration',
  ],
])('the numbers say whether accepted failures are not counted: %j', (failures, limit) => {
  expect(exceededToleranceText({ ...DEFAULT_LIMITS, toleratedShare: 0.18 }, failures)).toBe(
    `when the migration paused, 6 of 30 tried companies could not be moved, ${limit}`,
  );
});
