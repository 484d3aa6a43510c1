import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { tooManyRequests } from '../errors/errors';

const WINDOW_MS = 60_000;
/** Limits the memory that requests from many different addresses can use. */
const MAX_ADDRESSES = 10_000;

interface Window {
  readonly endsAt: number;
  count: number;
}

/**
 * Limits the requests per minute that a network address can send without a valid API key. Each process counts
 * separately. Behind a proxy, all callers have the proxy's address, so the proxy must limit them.
 */
export class AddressLimit {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly perMinute: number) {}

  /** @throws ServiceError 429 if the request's address has reached the limit */
  assertBelow(request: FastifyRequest): void {
    const { count, endsAt } = this.windowOf(request);
    if (count >= this.perMinute) throw tooManyRequests(Math.max(1, Math.ceil((endsAt - Date.now()) / 1000)));
  }

  count(request: FastifyRequest): void {
    this.windowOf(request).count += 1;
  }

  private windowOf({ ip }: FastifyRequest): Window {
    const key = isIPv6(ip) && !ip.includes('.') ? networkOf(ip) : ip;
    const known = this.windows.get(key);
    if (known && known.endsAt > Date.now()) return known;
    if (this.windows.size >= MAX_ADDRESSES) this.windows.clear();
    const window = { endsAt: Date.now() + WINDOW_MS, count: 0 };
    this.windows.set(key, window);
    return window;
  }
}

/** Returns the first half of an IPv6 address, because one caller usually has all addresses of a /64 network. */
function networkOf(ip: string): string {
  const [front = '', back] = ip.split('::', 2);
  const groups = front.split(':').filter((group) => group !== '');
  if (back === undefined) return groups.slice(0, 4).join(':');
  const known = [...groups, ...back.split(':').filter((group) => group !== '')].length;
  return [...groups, ...Array<string>(Math.max(0, 8 - known)).fill('0')].slice(0, 4).join(':');
}
