import { randomUUID } from 'node:crypto';
import { runService, type RunningService } from '../running-service';
import { error } from './response-schemas';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ requestsPerMinute: 2 });
});
afterAll(() => service.close());

describe('8 The rate limit', () => {
  it('is in the headers of every response, and a request beyond it gets a 429 with Retry-After', async () => {
    const unknown = `/companies/${randomUUID()}`;
    const first = await service.client('GET', '/companies');
    expect(first.headers.get('x-rate-limit-limit')).toBe('2');
    expect(first.headers.get('x-rate-limit-remaining')).toBe('1');
    const resetsIn = Date.parse(first.headers.get('x-rate-limit-reset') ?? '') - Date.now();
    expect(resetsIn).toBeGreaterThan(50_000);
    expect(resetsIn).toBeLessThanOrEqual(60_000);

    // An error counts against the limit and has the headers, too.
    const second = await service.client('GET', unknown);
    expect([second.status, second.headers.get('x-rate-limit-remaining')]).toEqual([404, '0']);
    const third = await service.client('GET', unknown);
    expect(third.status).toBe(429);
    expect(error.parse(third.body)).toMatchObject({ statusCode: 429, service: 'PublicApi', canBeRetried: 'True' });
    expect(third.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(third.headers.get('x-rate-limit-remaining')).toBe('0');
    expect(third.headers.get('x-rate-limit-reset')).toBe(first.headers.get('x-rate-limit-reset'));
    expect(await service.administrator('GET', '/companies')).toMatchObject({ status: 200 });
  });
});
