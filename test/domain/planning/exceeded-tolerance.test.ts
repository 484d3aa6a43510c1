/** Tests the numbers that an automatic pause states after too many failures. */
import { DEFAULT_LIMITS, exceededToleranceText } from '../../../domain/planning/limits';

const LIMITS = { ...DEFAULT_LIMITS, toleratedShare: 0.18 };

test.each([
  [{ failed: 6, tried: 30, accepted: 0 }, 'which is 20%, more than the limit of 18%'],
  [
    { failed: 6, tried: 30, accepted: 2 },
    'which is 20%, more than the limit of 18%; 2 more failed companies are not counted, because their failures were accepted when someone resumed the migration',
  ],
  [
    { failed: 6, tried: 30, accepted: 1 },
    'which is 20%, more than the limit of 18%; 1 more failed company is not counted, because its failure was accepted when someone resumed the migration',
  ],
])('the numbers say whether accepted failures are not counted: %j', (failures, limit) => {
  expect(exceededToleranceText(LIMITS, failures)).toBe(
    `when the migration paused, 6 of 30 tried companies could not be moved, ${limit}`,
  );
});

test('a share that exceeds the limit by less than the rounding does not look like the limit', () => {
  const limits = { ...DEFAULT_LIMITS, toleratedShare: 0.2 };
  expect(exceededToleranceText(limits, { failed: 501, tried: 2_504, accepted: 0 })).toBe(
    'when the migration paused, 501 of 2,504 tried companies could not be moved, which is slightly more than the limit of 20%',
  );
});
