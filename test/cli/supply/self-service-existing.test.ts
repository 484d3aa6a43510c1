/** Tests the self-service route for companies and connections that already exist at the service. */
import { randomUUID } from 'node:crypto';
import { Secret } from '../../../security';
import { ferry } from '../captured-terminal';
import { tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { platform } from '../../support/migrations/platforms';
import { manifestOf, openSelfServiceClient, type SelfServiceClient } from './self-service-set-up';

let me: SelfServiceClient;
beforeAll(async () => (me = await openSelfServiceClient()));
afterAll(() => me.close());

describe('a company that already exists', () => {
  const existing = async (name = 'Here before') =>
    (await me.client.createCompany({ name, tags: { ours: 'yes' } }, { idempotencyKey: randomUUID() })).value;
  const connected = async (companyId: string, key: string) =>
    (await me.client.createConnection(companyId, key, { idempotencyKey: randomUUID() })).value;

  test('gets the connection, and keeps its name and tags', async () => {
    const { id, name, tags } = await existing();
    const before = (await me.client.account()).value.companiesUsed;
    const { json } = await me.selfService('square', 'named', [{ credential: 'sbx-ok-1', serviceCompanyId: id }]);
    expect(json).toMatchObject({ state: 'completed', counts: { moved: 1 } });
    const [moved] = await me.companiesOf('me.square.named');
    expect(moved?.companyId).toBe(id);
    expect((await me.client.account()).value.companiesUsed).toBe(before);
    expect((await me.client.getCompany(id)).value).toMatchObject({ name, tags });
  });

  test('gets the authorization on exactly the connection that is given', async () => {
    const { id } = await existing();
    const [, second] = [await connected(id, 'gbol'), await connected(id, 'gbol')];
    const row = { credential: 'sbx-ok-1', serviceCompanyId: id, serviceConnectionId: second.id };
    expect((await me.selfService('xero', 'connection', [row])).exitCode).toBe(0);
    expect((await me.companiesOf('me.xero.connection'))[0]?.connectionId).toBe(second.id);
  });

  test('keeps a connection of the same platform that belongs to another organization', async () => {
    const { id } = await existing();
    const other = await connected(id, 'gbol');
    const fields = { accessToken: 'any', refreshToken: `sbx-ok-1.${randomUUID()}`, tenantId: 'somebody-else' };
    await me.client.putAuthorization(id, other.id, new Secret(fields));
    expect((await me.selfService('xero', 'beside', [{ credential: 'sbx-ok-1', serviceCompanyId: id }])).exitCode).toBe(
      0,
    );
    expect((await me.companiesOf('me.xero.beside'))[0]?.connectionId).not.toBe(other.id);
    expect((await me.client.getConnection(id, other.id)).value.connectionInfo?.['organizationId']).toBe(
      'somebody-else',
    );
  });

  test('is not moved if the service has no such company or connection', async () => {
    const { id } = await existing();
    const { json } = await me.selfService('xero', 'unknown', [
      { credential: 'sbx-ok-1', serviceCompanyId: randomUUID() },
      { credential: 'sbx-ok-1', serviceCompanyId: id, serviceConnectionId: randomUUID() },
    ]);
    expect(json).toMatchObject({ state: 'waiting', counts: { failed: 2, moved: 0 } });
    const [unknownCompany, unknownConnection] = await me.companiesOf('me.xero.unknown');
    expect(unknownCompany?.failureText).toContain('404');
    expect(unknownConnection?.failureText).toContain('no connection to this platform with the supplied connection id');
  });

  test('is kept if the migration is cancelled, whereas a company that was created is deleted', async () => {
    const { id } = await existing();
    const rows = [{ credential: 'sbx-unavailable', serviceCompanyId: id }, { credential: 'sbx-unavailable' }];
    await me.selfService('exact-online-nl', 'cancelled', rows, '--detach');
    const migration = 'me.exact-online-nl.cancelled';
    await until(async () => (await me.companiesOf(migration)).every(({ connectionId }) => connectionId !== null));
    const [, created] = await me.companiesOf(migration);
    expect((await me.run('cancel', migration, '--reason', 'not today', '--yes', '--as', 'client')).exitCode).toBe(0);
    expect((await me.run('watch', migration)).exitCode).toBe(1);
    const late = await me.run(
      'amend',
      migration,
      manifestOf(platform('exact-online-nl'), [{ credential: 'sbx-ok-1' }]),
    );
    expect(late.err).toContain('start a new self-service migration for these companies, with another --label');
    await me.orchestrator.ferry.temporal.workflow.getHandle(migration).result();
    expect((await me.client.getCompany(id)).value.id).toBe(id);
    await expect(me.client.getCompany(created?.companyId ?? '')).rejects.toThrow('404');
  });

  test.each([
    ['an id that is not a UUID', { serviceCompanyId: '17' }, 'invalid-id'],
    ['a connection without its company', { serviceConnectionId: randomUUID() }, 'missing-value'],
    ['a connection and an id that is not', { serviceCompanyId: '17', serviceConnectionId: randomUUID() }, 'invalid-id'],
  ])('causes one error if its row has %s', async (_, ids, code) => {
    const { exitCode, json } = await me.selfService('xero', 'bad', [{ credential: 'sbx-ok-1', ...ids }]);
    expect(exitCode).toBe(1);
    const findings = json['findings'] as readonly { readonly code: string; readonly severity: string }[];
    expect(findings.filter(({ severity }) => severity === 'error').map((finding) => finding.code)).toEqual([code]);
  });

  test.each([
    [1, 'company that you specified; for each of the others, it creates a new company'],
    [2, 'companies that you specified; for the other, it creates a new company'],
  ])('is counted before the start: %d of 3', async (existingCompanies, text) => {
    const rows = [1, 2, 3].map((row) => ({
      credential: 'sbx-ok-1',
      ...(row <= existingCompanies ? { serviceCompanyId: randomUUID() } : {}),
    }));
    const start = ['self-service', manifestOf(platform('xero'), rows), '-p', 'xero', '--client', 'me'];
    const { out } = await ferry(start, 400, me.env, { confirm: async () => false });
    expect(out).toContain(
      `3 Xero companies: for ${existingCompanies} of these, the service uses the existing ${text}.\n`,
    );
  });

  test('can be given in only one row', async () => {
    const row = { credential: 'sbx-ok-1', serviceCompanyId: randomUUID() };
    const { json } = await me.selfService('xero', 'twice', [row, row]);
    expect(json['findings']).toContainEqual(expect.objectContaining({ code: 'duplicate-company-id' }));
  });

  test('can be given in the short column companyId if the platform has no such field', async () => {
    const { id } = await existing();
    const row = `reference,name,merchantId,accessToken,companyId\nS-1,One,o-1,sbx-ok-1.${randomUUID()},${id}`;
    const { exitCode } = await me.asJson(
      'self-service',
      tempFile(row),
      '-p',
      'clover',
      '--client',
      'me',
      '--label',
      'short',
      '--yes',
    );
    expect(exitCode).toBe(0);
    expect((await me.companiesOf('me.clover.short'))[0]?.companyId).toBe(id);
  });
});
