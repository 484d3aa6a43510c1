import fc from 'fast-check';
import { Faults } from '../../company-data-service/faults/faults';
import { newCompany, runService, type RunningService } from './running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ faults: true, basePath: '/v1' });
});
afterAll(() => service.close());
afterEach(() => service.administrator('DELETE', '/sandbox/faults'));

const order = (fault: object, seed = 7) =>
  service.administrator('PUT', '/sandbox/faults', { body: { seed, faults: [fault] } });
const create = (name: string) => service.client('POST', '/companies', { body: { name } });
const named = async (name: string) =>
  (await service.client('GET', `/companies?query=${encodeURIComponent(`name=${name}`)}`)).body.totalResults;

describe('faults', () => {
  it('exist only in a service started with faults, and only for administrators', async () => {
    const live = await runService();
    expect(await live.administrator('PUT', '/sandbox/faults', { body: { faults: [] } })).toMatchObject({ status: 404 });
    await live.close();
    expect(await service.client('GET', '/sandbox/faults')).toMatchObject({ status: 403 });
    expect(await order({ kind: 'sabotage' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['internalError', 500, 'Unknown'],
    ['unavailable', 503, 'True'],
    ['tooManyRequests', 429, 'True'],
  ])(
    'answer %s as the service would, on their route only, as often as they were ordered',
    async (kind, statusCode, canBeRetried) => {
      const fault = {
        kind,
        method: 'GET',
        path: '/companies/{companyId}',
        times: 2,
        ...(statusCode === 429 && { retryAfterS: 17 }),
      };
      const ordered = await order(fault);
      expect(ordered).toMatchObject({ status: 200, body: { seed: 7, faults: [{ ...fault, probability: 1 }] } });
      const id = await newCompany(service.client);
      for (const _time of [1, 2]) {
        const answer = await service.client('GET', `/companies/${id}`);
        expect(answer).toMatchObject({ status: statusCode, body: { statusCode, canBeRetried } });
        if (statusCode === 429) expect(answer.headers.get('retry-after')).toBe('17');
      }
      expect(await service.client('GET', `/companies/${id}`)).toMatchObject({ status: 200 });
    },
  );

  it('drop a connection before the handler runs', async () => {
    await order({ kind: 'droppedConnection', method: 'POST', path: '/companies' });
    await expect(create('Dropped')).rejects.toThrow();
    expect(await named('Dropped')).toBe(0);
  });

  it('lose an answer after the handler has run', async () => {
    await order({ kind: 'lostAnswer', method: 'POST', times: 1 });
    await expect(create('Lost')).rejects.toThrow();
    expect(await named('Lost')).toBe(1);
  });

  it('delay an answer', async () => {
    await order({ kind: 'latency', latencyMs: 200 });
    const begun = performance.now();
    await named('Nobody');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
  });

  it('affect the same requests with the same seed, about as often as configured', () => {
    const met = (seed: number, probability: number) => {
      const faults = new Faults();
      faults.configure({ seed, faults: [{ kind: 'unavailable', probability }] });
      return Array.from({ length: 2_000 }, () => faults.faultsFor('GET', '/companies').length);
    };
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (seed, probability) => {
        const first = met(seed, probability);
        expect(met(seed, probability)).toEqual(first);
        const share = first.reduce((sum, one) => sum + one, 0) / first.length;
        expect(Math.abs(share - probability)).toBeLessThan(0.07);
      }),
    );
    expect(met(1, 0.5)).not.toEqual(met(2, 0.5));
  });
});
