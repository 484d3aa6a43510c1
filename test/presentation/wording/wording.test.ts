/** Decisions and windows in words, as the report, `ferry audit` and `ferry show` have them. */
import { decisionText } from '../../../presentation/wording/decisions';
import { windowsText } from '../../../presentation/wording/windows';

const SENT = { decisionId: 'd', role: 'support', by: 'Sam' } as const;
const NIGHTS = { days: ['mon', 'tue'], from: '22:00', to: '00:00', timeZone: 'Europe/London' } as const;
const WEEKENDS = { days: ['sun', 'sat', 'thu'], from: '08:00', to: '20:00', timeZone: 'UTC' } as const;

test('changed limits read as they were typed', () => {
  const limits = { windows: [NIGHTS], slicesAtOnce: 2, toleratedShare: null };
  expect(decisionText({ ...SENT, kind: 'adjust', limits, reason: 'a holiday' })).toBe(
    'adjust slicesAtOnce to 2, toleratedShare to null, windows to mon-tue 22:00-24:00 Europe/London (a holiday)',
  );
  expect(decisionText({ ...SENT, kind: 'adjust', limits: { windows: [] } })).toBe('adjust windows to at any time');
});

test('a decision about many companies names only the first ones', () => {
  const companies = Array.from({ length: 23 }, (_, index) => `C-${index + 1}`);
  expect(decisionText({ ...SENT, kind: 'retry', companies })).toMatch(/^retry C-1, .*C-20 and 3 more$/);
});

test('several windows are separated, and their days are in the order of the week', () => {
  expect(windowsText([NIGHTS, WEEKENDS])).toBe('mon-tue 22:00-24:00 Europe/London; thu,sat-sun 08:00-20:00 UTC');
});
