/**
 * The rows of the failure table (domain/companies/failures.ts) that concern an import: their effects on the company and
 * on the batch.
 */
import { acceptFailures } from '../../../store';
import { CORRELATION_ID, dropped, failing, html } from '../../company-data-client/misbehaving-service';
import { useImportRig } from '../../support/migrations/company-import';
import { until } from '../../support/async';
import { alterBody, sendAnswer, type Interceptor } from '../../support/faults/http-proxy';
import { readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const COMPANY = /^\/companies$/;
const CONNECTION = /\/connections$/;
const AUTHORIZATION = /\/authorization$/;
const SYNC = /\/data\/all$/;
const stateOf = async (id: string, row = 1) => readRow(rig.ledger.db, id, row);
const puts = () => rig.proxy.arrived('PUT', AUTHORIZATION).length;
const REFUSED_BY_PLATFORM: Interceptor = (response) => {
  response.writeHead(403, { 'content-type': 'application/json' });
  const error = { service: 'QuickBooks Online', error: 'not accessible', correlationId: CORRELATION_ID };
  response.end(JSON.stringify({ statusCode: 403, ...error }));
};

test('an import links each company with one authorization and starts its syncs', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-6', 'sbx-ok-7']);
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 3, stop: null, nextClaimInMs: null });
  for (const row of [1, 2, 3]) {
    expect(await stateOf(id, row)).toMatchObject({
      state: 'syncing',
      company_id: expect.any(String) as string,
      connection_id: expect.any(String) as string,
      stored_name: `Company ${row}`,
      link_url: expect.stringMatching(/^http/) as string,
      failure: null,
    });
  }
  expect(puts()).toBe(3);
});

describe('the company fails and the batch continues', () => {
  test.each<[string, string, RegExp, Interceptor]>([
    ['after a 400 for its creation', 'POST', COMPANY, failing(400, 'the name is not allowed')],
    ['after a 400 for its connection', 'POST', CONNECTION, failing(400, 'no such platform')],
    ['after a 400 for its authorization', 'PUT', AUTHORIZATION, failing(400, 'a field is missing')],
    ['after a 404 for its authorization', 'PUT', AUTHORIZATION, failing(404, 'no such connection')],
  ])('%s', async (_, method, path, interference) => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    rig.proxy.on(method, path, [interference]);
    expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 2, stop: null });
    expect(await stateOf(id, 1)).toMatchObject({
      state: 'failed',
      failure: 'refused',
      correlation_id: '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11',
    });
    expect((await stateOf(id, 2)).state).toBe('syncing');
  });

  test.each(['sbx-revoked', 'sbx-expired', 'sbx-used', 'sbx-refresh-refused'])(
    'if the platform refuses the grant (%s); the link for reconnecting is stored',
    async (token) => {
      const { id } = await rig.migration([token, 'sbx-ok-5']);
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 2, stop: null });
      const row = await stateOf(id, 1);
      expect(row).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
      expect((await fetch(row.link_url ?? '', { method: 'HEAD' })).status).toBe(200);
      expect((await stateOf(id, 2)).state).toBe('syncing');
    },
  );
});

describe('the company goes back to waiting', () => {
  test.each<[string, string, RegExp, Interceptor, string]>([
    ['after a 401', 'POST', COMPANY, failing(401, 'the key is wrong'), 'key-refused'],
    ['after a 403 for the key', 'POST', CONNECTION, failing(403, 'the key is outdated'), 'key-refused'],
    [
      'after a 403 for the key during the authorization',
      'PUT',
      AUTHORIZATION,
      failing(403, 'managed only'),
      'key-refused',
    ],
    [
      'after a 402',
      'POST',
      COMPANY,
      failing(402, 'CompanyValidationException: Company limit exceeded'),
      'account-limit',
    ],
  ])('%s, and the batch stops', async (_, method, path, interference, stop) => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    rig.proxy.on(method, path, interference);
    expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 1, stop });
    expect(await stateOf(id, 1)).toMatchObject({ state: 'waiting', failure: null });
    expect(await stateOf(id, 2)).toMatchObject({ state: 'waiting', tries: 0 });

    rig.proxy.reset();
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, stop: null });
    expect((await stateOf(id, 1)).state).toBe('syncing');
  });

  test("if the platform refuses the client's application, and the batch continues", async () => {
    const { id } = await rig.migration(['sbx-other-application', 'sbx-ok-5']);
    // A single credential of another application affects only its own company.
    expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ stop: null });
    expect(await stateOf(id, 1)).toMatchObject({ state: 'waiting', failure: 'application-refused' });
    expect((await stateOf(id, 2)).state).toBe('syncing');
  });
});

describe.each(['application-refused', 'wrong-organization'] as const)(
  'several companies in a row with %s',
  (failure) => {
    const token = failure === 'application-refused' ? 'sbx-other-application' : 'sbx-wrong-organization-5';

    test('stop the batch, but not again after it was resumed', async () => {
      const { id } = await rig.migration([token, token, token, 'sbx-ok-5', token, 'sbx-ok-5']);
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({
        stop: failure,
        stopNumbers: 'affected so far: 3 companies (c1, c2, c3)',
      });
      expect(await stateOf(id, 3)).toMatchObject({ failure, failure_accepted: false });
      expect(await stateOf(id, 4)).toMatchObject({ state: 'waiting', tries: 0 });
      await acceptFailures(rig.ledger.db, id);
      await rig.ledger.db.updateTable('companies').set({ not_before: null }).where('migration_id', '=', id).execute();
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ stop: null });
      expect((await stateOf(id, 4)).state).toBe('syncing');
      expect((await stateOf(id, 6)).state).toBe('syncing');
      expect((await stateOf(id, 5)).failure).toBe(failure);
    });

    test('stop the batch with the number of all companies that failed in the same way, also while it stopped', async () => {
      const { id } = await rig.migration([...Array.from({ length: 8 }, () => token), 'sbx-ok-5']);
      // Companies 4 to 8 are created only after the first three have failed, which stops the batch.
      rig.proxy.on('POST', /^\/companies$/, async (response, request, pass) => {
        if (/Company [4-8]"/.test(request.body)) {
          for (const row of [1, 2, 3]) await until(async () => (await stateOf(id, row)).failure !== null);
        }
        sendAnswer(response, await pass());
      });
      expect(await rig.importSlice(id, { atOnce: 8 })).toMatchObject({
        stop: failure,
        stopNumbers: 'affected so far: 8 companies (c1, c2, c3 and 5 more)',
      });
    });

    test('do not stop the batch if companies between them are still being imported', async () => {
      const { id } = await rig.migration([token, 'sbx-ok-5', token, 'sbx-ok-5', token, 'sbx-ok-5']);
      // Companies 2, 4 and 6 are created only after companies 1, 3 and 5 have a failure.
      rig.proxy.on('POST', /^\/companies$/, async (response, request, pass) => {
        if (/Company [246]"/.test(request.body)) {
          for (const row of [1, 3, 5]) await until(async () => (await stateOf(id, row)).failure !== null);
        }
        sendAnswer(response, await pass());
      });
      expect(await rig.importSlice(id, { atOnce: 6 })).toMatchObject({ stop: null });
      for (const row of [2, 4, 6]) expect((await stateOf(id, row)).state).toBe('syncing');
    });

    test('do not stop the batch if they are in a row only when they are retried', async () => {
      const { id } = await rig.migration([token, 'sbx-ok-5', token, 'sbx-ok-5', token, 'sbx-inaccessible']);
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ stop: null });
      await rig.ledger.db.updateTable('companies').set({ not_before: null }).where('migration_id', '=', id).execute();
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ stop: null });
    });

    test('stop the batch even if only two companies are left', async () => {
      const { id } = await rig.migration([token, token]);
      expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({
        stop: failure,
        stopNumbers: 'affected so far: 2 companies (c1, c2)',
      });
    });
  },
);

// A single mismatch does not stop the batch. Several in a row do (see above), because the rows of the manifest could be
// shifted.
describe('a company with the wrong organization fails', () => {
  test('if the service detects the mismatch', async () => {
    const { id } = await rig.migration(['sbx-wrong-organization-5', 'sbx-ok-5']);
    expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 2, stop: null });
    expect(await stateOf(id, 1)).toMatchObject({ state: 'failed', failure: 'wrong-organization' });
    expect((await stateOf(id, 2)).state).toBe('syncing');
  });

  test('if only the manifest shows the mismatch; no sync is started', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    const wrongOrganization = alterBody((body) => ({ ...body, connectionInfo: { organizationId: 'another' } }));
    rig.proxy.on('PUT', AUTHORIZATION, wrongOrganization);
    expect(await rig.importSlice(id)).toMatchObject({ stop: null });
    const row = await stateOf(id);
    expect(row).toMatchObject({ state: 'failed', failure: 'wrong-organization' });
    expect(row.failure_text).toContain('the platform reports organization another');
    expect(rig.proxy.arrived('POST', SYNC)).toEqual([]);
  });
});

describe('the company goes back to waiting and is retried later', () => {
  // The backoff before the next try is random. If it were almost 0, the same slice would claim the company again.
  beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0.5));
  afterEach(() => jest.restoreAllMocks());

  test.each<[string, string, RegExp, Interceptor]>([
    ['after a 500', 'POST', COMPANY, failing(500, 'oops')],
    ['after a 503', 'POST', CONNECTION, failing(503, 'maintenance')],
    ['after a 404 with the page of a proxy', 'POST', COMPANY, html(404, '<h1>404 page not found</h1>')],
    ['after a 403 with the page of a proxy', 'POST', CONNECTION, html(403, '<h1>Forbidden</h1>')],
    ['after a 502 with the page of a proxy', 'POST', COMPANY, html(502, '<h1>Bad gateway</h1>')],
    ['if connections are dropped', 'POST', COMPANY, dropped],
    ['after a 403 from the platform', 'PUT', AUTHORIZATION, REFUSED_BY_PLATFORM],
    ['if its creation stays in progress', 'POST', COMPANY, failing(409, 'in progress')],
  ])('%s', async (_, method, path, interference) => {
    const { id } = await rig.migration(['sbx-ok-5']);
    rig.proxy.on(method, path, interference);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1, stop: null });
    expect(await stateOf(id)).toMatchObject({
      state: 'waiting',
      not_before: expect.any(Date) as Date,
      failure: null,
      tries: 1,
    });
  });

  test.each(['sbx-unavailable-1-ok-5', 'sbx-rate-limited-1-ok-5'])(
    'if the platform is busy (%s), reusing its company and connection at the service',
    async (token) => {
      const { id } = await rig.migration([token]);
      await rig.importSlice(id);
      const before = await stateOf(id);
      expect(before).toMatchObject({ state: 'waiting', not_before: expect.any(Date) as Date });
      await rig.ledger.db.updateTable('companies').set({ not_before: null }).where('migration_id', '=', id).execute();
      await rig.importSlice(id);
      const after = await stateOf(id);
      expect(after.state).toBe('syncing');
      expect([after.company_id, after.connection_id]).toEqual([before.company_id, before.connection_id]);
    },
  );

  test('unless a retry within the call succeeds; the first failure then leaves no trace', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    rig.proxy.on('POST', COMPANY, [failing(503, 'maintenance'), dropped, failing(409, 'in progress')]);
    rig.proxy.on('POST', SYNC, [failing(500, 'oops')]);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1 });
    expect(await stateOf(id)).toMatchObject({ state: 'syncing', tries: 1 });
  });
});

describe('a 429', () => {
  test('with a short Retry-After is waited out, even for the authorization', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    rig.proxy.on('POST', COMPANY, [failing(429, 'slowly', { 'retry-after': '0' })]);
    rig.proxy.on('PUT', AUTHORIZATION, [failing(429, 'slowly', { 'retry-after': '0' })]);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1 });
    expect((await stateOf(id)).state).toBe('syncing');
    expect(puts()).toBe(2);
  });

  test.each(['315360000', '9'.repeat(400)])('with a Retry-After of %s defers companies by a minute', async (value) => {
    const { id } = await rig.migration(['sbx-ok-5']);
    rig.proxy.on('POST', COMPANY, failing(429, 'slowly', { 'retry-after': value }));
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1, stop: null });
    const { state, not_before: at } = await stateOf(id);
    expect(state).toBe('waiting');
    expect(at?.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('with a long Retry-After leaves every company untouched until the time is up', async () => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    rig.proxy.on('POST', COMPANY, failing(429, 'slowly', { 'retry-after': '3600' }));
    const worker = rig.worker();
    const report = await rig.importSlice(id, { atOnce: 1, worker });
    expect(report).toMatchObject({
      claimed: 1,
      stop: null,
      outage: { why: expect.stringContaining('asks for a retry after') as string },
    });
    expect(await stateOf(id, 1)).toMatchObject({ state: 'waiting', failure: null });
    // For the next company, no request is sent at all.
    const next = await rig.importSlice(id, { atOnce: 1, worker });
    expect(next).toMatchObject({ claimed: 1 });
    expect(next.nextClaimInMs).toBeGreaterThan(3_500_000);
    expect(rig.proxy.arrived('POST', COMPANY)).toHaveLength(1);
  });
});
