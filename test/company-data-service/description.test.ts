import { callerWith, runService, type RunningService } from './running-service';

interface Operation {
  security?: [];
  summary?: string;
  responses: Record<string, unknown>;
  parameters?: { in: string; name: string }[];
}

interface Description {
  openapi: string;
  servers: [{ url: string }];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

let service: RunningService;
let description: Description;
beforeAll(async () => {
  service = await runService({ basePath: '/v1' });
  const answer: unknown = (await callerWith(service.url)('GET', '/openapi.json')).body;
  description = answer as Description;
});
afterAll(() => service.close());

const operations = () =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

describe('the OpenAPI document of the service', () => {
  it('is OpenAPI 3.1, with paths relative to the base URL', () => {
    expect(description.openapi).toBe('3.1.0');
    expect(description.servers).toEqual([{ url: service.url }]);
    expect(Object.keys(description.paths)).toContain('/companies/{companyId}/data/{dataType}');
  });

  it('has a summary for every operation, and no unresolved reference', () => {
    for (const { operation } of operations()) expect(operation.summary).toMatch(/./);
    const names = [...JSON.stringify(description).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(names)].sort()).toEqual(Object.keys(description.components.schemas).sort());
  });

  it('shows which operations require a key', async () => {
    const withoutKey = callerWith(service.url);
    for (const { method, path, operation } of operations()) {
      const { status } = await withoutKey(method, path.replaceAll(/[{}]/g, ''));
      expect({ method, path, status: status === 401 }).toEqual({ method, path, status: !operation.security });
      expect('401' in operation.responses).toBe(status === 401);
    }
  });

  it('says why the callback URL of a platform is not an operation', () => {
    expect(Object.keys(description.paths).join()).not.toContain('callback');
    expect(JSON.stringify(description.components.schemas['Integration'])).toContain('not an operation of this API');
  });

  it('documents the idempotency key for POST and PATCH', () => {
    const withKey = operations().filter(({ operation }) =>
      operation.parameters?.some(({ name }) => name === 'Idempotency-Key'),
    );
    const methods = new Set(withKey.map(({ method }) => method));
    expect([...methods].sort()).toEqual(['PATCH', 'POST']);
  });
});

describe('the documentation page', () => {
  it('loads only files of the service, under its base path', async () => {
    const page = await fetch(`${service.url}/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      expect(file).toMatch(/^\/v1\/docs\/static\//);
      const answer = await fetch(new URL(file, service.url));
      expect([answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    }
    expect(await (await fetch(`${service.url}/docs/json`)).json()).toEqual(description);
  });
});
