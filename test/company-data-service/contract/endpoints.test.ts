import { callerWith, runService, type RunningService } from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath } from './endpoints';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ basePath: '/v1' });
});
afterAll(() => service.close());

describe('4 Endpoints', () => {
  it.each(ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s succeeds with its exact status and schema',
    async (_endpoint, { method, path, body, success, schema }) => {
      const names = await companyWithEverything(service.administrator);
      const answer = await service.administrator(method, fillPath(path, names), body ? { body } : {});
      expect(answer.status).toBe(success);
      if (schema) {
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        schema.parse(answer.body);
      } else {
        expect(answer.text).toBe('');
        expect(answer.headers.get('content-type')).toBeNull();
      }
    },
  );

  it('the health check, the OpenAPI document and the documentation page require no key', async () => {
    const withoutKey = callerWith(service.url);
    expect(await withoutKey('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await withoutKey('GET', '/openapi.json')).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
    const page = await withoutKey('GET', '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
  });
});

describe('4 Endpoints: every path', () => {
  const paths = [...new Set(ENDPOINTS.map(({ path }) => path))];

  it.each(paths)('%s returns 405 with the allowed methods for all other methods, even without a key', async (path) => {
    const has = ENDPOINTS.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
    const withoutKey = callerWith(service.url);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].filter(
      (one) => !has.includes(one as 'GET'),
    )) {
      const { status, headers } = await withoutKey(method, fillPath(path));
      expect([method, status, headers.get('allow')?.split(', ').sort()]).toEqual([method, 405, [...has].sort()]);
    }
  });

  it('is relative to the base URL, which can have a path', async () => {
    expect(new URL(service.url).pathname).toBe('/v1');
    const atOrigin = callerWith(new URL(service.url).origin);
    for (const path of paths) expect(await atOrigin('GET', fillPath(path))).toMatchObject({ status: 404 });
    const { _links } = (await service.client('GET', '/companies')).body;
    expect(_links.current.href).toBe('/companies?page=1&pageSize=100');
  });
});
