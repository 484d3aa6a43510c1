/** Tests the shares of transient faults that docs/reliability.md states. */
import type { ProxyAction } from '../../../chaos/cluster';
import { randomOf } from '../../../chaos/random';
import { transientFaults } from '../../../chaos/soak/transient-faults';

const REQUEST = { method: 'GET', path: '/companies', body: '' };

/** Returns whether the service gets a request that fails in this way. */
const reachesService = (action: ProxyAction): boolean =>
  action === 'loseAnswer' || (typeof action === 'object' && 'status' in action && action.forward === true);

test('a tenth of the requests fails, and in over a quarter of these failures the service has done the work', () => {
  const fault = transientFaults(0.1, randomOf(1));
  const failures = Array.from({ length: 100_000 }, () => fault(REQUEST)).filter((action) => action !== 'forward');
  expect(failures.length / 100_000).toBeCloseTo(0.1, 2);
  // Of 100: 15 lost answers, 10 errors after the work, and half of 5 unfinished bodies.
  expect(failures.filter(reachesService).length / failures.length).toBeCloseTo(0.275, 1);
});
