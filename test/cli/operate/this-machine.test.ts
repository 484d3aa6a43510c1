/** Tests what `ferry doctor` reports about the machine on which it runs: Node.js and the clock. */
import { aheadByDateHeader, checkClocks, checkNodeVersion, sharedTimeMs } from '../../../cli/doctor/this-machine';

test.each([
  ['20.20.2', 'ok'],
  ['24.0.0', 'ok'],
  ['20.18.9', 'problem'],
  ['9.99.0', 'problem'],
])('checkNodeVersion reports Node.js %s as %s', (version, verdict) => {
  expect(checkNodeVersion(version, '>=20.19')).toMatchObject({ verdict });
});

test.each([
  [[{ whose: 'Postgres', aheadMs: 400 }], 'ok', 'Postgres agrees'],
  [[{ whose: 'Postgres', aheadMs: -3_000 }], 'ok', 'Postgres is 3 s behind this machine'],
  [
    [
      { whose: 'Postgres', aheadMs: 0 },
      { whose: 'the service', aheadMs: 61_000 },
    ],
    'problem',
    'the service is 61 s ahead of this machine',
  ],
  [[], 'not-checked', 'not compared, because neither the database nor the service has reported its time'],
])('checkClocks reports the clocks %j as %s', (clocks, verdict, finding) => {
  expect(checkClocks(clocks)).toMatchObject({ verdict, finding });
});

test('a Date header shows only a difference that neither its whole seconds nor the time of the request explain', () => {
  const date = Date.UTC(2030, 0, 6, 21, 0, 5);
  // The time of the header is between 5.000 and 5.999 s.
  expect(aheadByDateHeader(date, date - 2_000, date + 100)).toBe(0);
  expect(aheadByDateHeader(date, date + 990, date + 3_000)).toBe(0);
  expect(aheadByDateHeader(date, date - 4_000, date - 3_000)).toBe(3_000);
  expect(aheadByDateHeader(date, date + 4_000, date + 5_000)).toBe(-3_000);
});

test('if only the clock of this machine is wrong, the time of the other clocks is used', () => {
  const clock = (aheadMs: number) => ({ whose: 'Postgres', aheadMs });
  const aheadBy = (...clocks: number[]) => Math.round((sharedTimeMs(clocks.map(clock)) - Date.now()) / 1_000);
  expect(aheadBy()).toBe(0);
  expect(aheadBy(-180_000, -181_000)).toBe(-180);
  expect(aheadBy(-180_000, 0)).toBe(0);
});
