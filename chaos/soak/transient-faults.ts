/** Transient faults: a share of all requests of both workers fails at random. */
import type { ProxyAction, RequestFault } from '../cluster';
import { json, page } from '../faults/connections';
import type { Random } from '../random';

/** An error in the service's own form. */
const error = (statusCode: number, message: string, headers: Record<string, string> = {}) =>
  json(statusCode, JSON.stringify({ statusCode, service: 'PublicApi', error: message }), headers);

/** The faults and their weights. With `forward`, the service has received the request. */
const FAULTS: readonly (readonly [weight: number, choose: (random: Random) => ProxyAction])[] = [
  [15, () => 'loseRequest'],
  [15, () => 'loseAnswer'],
  [10, () => error(500, 'Internal Server Error')],
  [5, () => ({ ...error(500, 'Internal Server Error'), forward: true })],
  [10, () => page(502, '502 Bad Gateway')],
  [5, () => ({ ...page(502, '502 Bad Gateway'), forward: true })],
  [10, () => error(503, 'Service Unavailable')],
  [5, (random) => error(503, 'Service Unavailable', retryAfter(random))],
  [5, () => error(429, 'Too Many Requests')],
  [10, (random) => error(429, 'Too Many Requests', retryAfter(random))],
  [5, (random) => random.pick([page(404, '404 Not Found'), page(200, 'Sign in to the network')])],
  [5, (random) => ({ ...json(200, '{"id":"'), forward: random.chance(0.5) })],
];
const ALL_WEIGHTS = FAULTS.reduce((sum, [weight]) => sum + weight, 0);

const retryAfter = (random: Random) => ({ 'retry-after': String(random.between(1, 3)) });

/**
 * Returns a fault that lets a share of all requests fail.
 *
 * @param share 0 to 1
 */
export function transientFaults(share: number, random: Random): RequestFault {
  return () => (random.chance(share) ? pickFault(random) : 'forward');
}

function pickFault(random: Random): ProxyAction {
  let left = random.int(ALL_WEIGHTS);
  for (const [weight, choose] of FAULTS) {
    left -= weight;
    if (left < 0) return choose(random);
  }
  return 'loseRequest';
}
