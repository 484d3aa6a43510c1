/** The waits that responses announce. No header can cause an exception, or a wait beyond the ceiling. */
import fc from 'fast-check';
import type { DeferredUntil } from '../../company-data-client';
import { retryAfterMs } from '../../company-data-client/announced-waits';
import type { IgnoredWait } from '../../company-data-client/caller';
import { createRateLimiter } from '../../company-data-client/rate-limiter';
import { LONGEST_RETRY_AFTER_MS, LONGEST_WAIT_MS } from '../../domain/companies/call-failure';
import { failing, json } from './misbehaving-service';
import { COMPANY, failureOf, useMisbehavingService } from './use-misbehaving-service';

const { service, clientWith } = useMisbehavingService({ retryBudgetMs: 0, firstRetryWaitMs: 5 });

const NOW = Date.parse('2030-01-01T00:00:00Z');
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

const headerText = fc.oneof(
  fc.string(),
  fc.stringMatching(/^\d{1,400}(\.\d{1,3})?$/),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.constantFrom(
    '-1',
    '1e17',
    'Infinity',
    'NaN',
    '0x10',
    '1795339885',
    '1795339885000',
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ),
);
const header = fc.option(fc.oneof(headerText, fc.array(headerText, { minLength: 2, maxLength: 3 })), {
  nil: undefined,
});
/** Header values as undici returns them: a list if a header occurs several times. */
const headers = fc.record({
  'retry-after': header,
  date: header,
  'x-rate-limit-limit': header,
  'x-rate-limit-remaining': header,
  'x-rate-limit-reset': header,
});

test('any Retry-After results in no wait or a wait up to the ceiling', () => {
  fc.assert(
    fc.property(headers, (given) => {
      const waitMs = retryAfterMs(given as never, NOW);
      if (waitMs === undefined) return;
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThanOrEqual(LONGEST_RETRY_AFTER_MS);
    }),
    { numRuns: 2_000 },
  );
});

test('after any responses, the rate limiter permits a request or returns a time up to the ceiling', async () => {
  const response = fc.record({ status: fc.constantFrom(200, 429, 503), headers });
  await fc.assert(
    fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 5 }), async (responses) => {
      const limiter = createRateLimiter();
      for (const each of responses) {
        const permit = await limiter.acquire(Date.now(), undefined);
        if (permit instanceof Date) break;
        permit.complete({ ...each, body: '', durationMs: 1 } as never);
      }
      const next = await limiter.acquire(Date.now(), undefined);
      if (next instanceof Date) expect(next.getTime()).toBeLessThanOrEqual(Date.now() + LONGEST_WAIT_MS);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['seconds', { 'retry-after': '3600' }, 3_600_000],
  ['a day', { 'retry-after': '86400' }, 3_600_000],
  ['a date', { date: new Date(NOW).toUTCString(), 'retry-after': new Date(NOW + 60_000).toUTCString() }, 60_000],
  ['ten years', { 'retry-after': '315360000' }, undefined],
  ['seconds since 1970', { 'retry-after': '1795339885' }, undefined],
  ['a date in 9999', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, undefined],
  ['a past date', { 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' }, 0],
  ['several values', { 'retry-after': ['3', '315360000'] }, 3_000],
])('reads a Retry-After of %s', (_, given, expected) => {
  expect(retryAfterMs(given as never, NOW)).toBe(expected);
});

test.each(['315360000', '99999999999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
  'a Retry-After of %s does not delay calls by more than a second, and is reported',
  async (value) => {
    const ignored: IgnoredWait[] = [];
    const client = clientWith({ onIgnoredWait: (wait) => ignored.push(wait) });
    service.answer(failing(429, 'Too many', { 'retry-after': value }), json(200, COMPANY));
    expect(await failureOf(client.getCompany('c1'))).toMatchObject({ name: 'Throttled', retryAfterMs: undefined });
    const error = await failureOf(client.getCompany('c2'));
    expect((error as DeferredUntil).until.getTime() - Date.now()).toBeLessThanOrEqual(1_000);
    expect(ignored).toEqual([{ call: 'GET /companies/c1', header: 'Retry-After', value: value.slice(0, 100) }]);
  },
);

test.each([
  ['a reset in 9999', { 'x-rate-limit-reset': '9999-12-31T23:59:59Z' }],
  ['a reset in a month', { 'x-rate-limit-reset': inDays(30).toISOString() }],
  ['an endless limit', { 'x-rate-limit-limit': 'Infinity', 'x-rate-limit-reset': inDays(0.9).toISOString() }],
])('a rate limit with %s does not delay the next call', async (_, given) => {
  const limit = { 'x-rate-limit-limit': '10', 'x-rate-limit-remaining': '0', ...given };
  const client = clientWith();
  service.answer(json(200, COMPANY, limit), json(200, COMPANY));
  await client.getCompany('c1');
  await client.getCompany('c2');
  expect(service.arrived).toHaveLength(2);
});
