import fc from 'fast-check';
import { Faults } from '../../company-data-service/faults/faults';
import { newCompany, runService, type RunningService } from './running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ faults: true, basePath: '/v1' });
});
afterAll(() => service.close());
afterEach(() => service.administrator('DELETE', '/sandbox/faults'));

const configure = (fault: object, seed = 7) =>
  service.administrator('PUT', '/sandbox/faults', { body: { seed, faults: [fault] } });
const create = (name: string) => service.client('POST', '/companies', { body: { name } });
const countNamed = async (name: string) =>
  (await service.client('GET', `/companies?query=${encodeURIComponent(`name=${name}`)}`)).body.totalResults;

describe('faults', () => {
  it('can be configured only by administrators, and only in a service that was started with faults', async () => {
    const live = await runService();
    expect(await live.administrator('PUT', '/sandbox/faults', { body: { faults: [] } })).toMatchObject({ status: 404 });
    await live.close();
    expect(await service.client('GET', '/sandbox/faults')).toMatchObject({ status: 403 });
    expect(await configure({ kind: 'sabotage' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['internalError', 500, 'Unknown'],
    ['unavailable', 503, 'True'],
    ['tooManyRequests', 429, 'True'],
  ])(
    'cause the error %s on the configured route, for the configured number of requests',
    async (kind, statusCode, canBeRetried) => {
      const fault = {
        kind,
        method: 'GET',
        path: '/companies/{companyId}',
        times: 2,
        ...(statusCode === 429 && { retryAfterS: 17 }),
      };
      const configured = await configure(fault);
      expect(configured).toMatchObject({ status: 200, body: { seed: 7, faults: [{ ...fault, probability: 1 }] } });
      const id = await newCompany(service.client);
      for (const _time of [1, 2]) {
        const answer = await service.client('GET', `/companies/${id}`);
        expect(answer).toMatchObject({ status: statusCode, body: { statusCode, canBeRetried } });
        if (statusCode === 429) expect(answer.headers.get('retry-after')).toBe('17');
      }
      expect(await service.client('GET', `/companies/${id}`)).toMatchObject({ status: 200 });
    },
  );

  it('that affect every request can be read and removed', async () => {
    expect(await configure({ kind: 'unavailable' })).toMatchObject({ status: 200 });
    expect(await create('Refused')).toMatchObject({ status: 503 });
    expect(await service.administrator('GET', '/sandbox/faults')).toMatchObject({ status: 200 });
    expect(await service.administrator('DELETE', '/sandbox/faults')).toMatchObject({ status: 204 });
    expect(await create('Created')).toMatchObject({ status: 200 });
  });

  it('drop the connection before the handler runs', async () => {
    await configure({ kind: 'droppedConnection', method: 'POST', path: '/companies' });
    await expect(create('Dropped')).rejects.toThrow();
    expect(await countNamed('Dropped')).toBe(0);
  });

  it('lose the response after the handler has run', async () => {
    await configure({ kind: 'lostAnswer', method: 'POST', times: 1 });
    await expect(create('Lost')).rejects.toThrow();
    expect(await countNamed('Lost')).toBe(1);
  });

  it('delay the response', async () => {
    await configure({ kind: 'latency', latencyMs: 200 });
    const begun = performance.now();
    await countNamed('Nobody');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
  });

  it('affect the same requests for the same seed, with the configured probability', () => {
    const hitsFor = (seed: number, probability: number) => {
      const faults = new Faults();
      faults.configure({ seed, faults: [{ kind: 'unavailable', probability }] });
      return Array.from({ length: 2_000 }, () => faults.faultsFor('GET', '/companies').length);
    };
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (seed, probability) => {
        const first = hitsFor(seed, probability);
        expect(hitsFor(seed, probability)).toEqual(first);
        const share = first.reduce((sum, one) => sum + one, 0) / first.length;
        expect(Math.abs(share - probability)).toBeLessThan(0.07);
      }),
    );
    expect(hitsFor(1, 0.5)).not.toEqual(hitsFor(2, 0.5));
  });
});
