/** The self-service route as a client walks it: with a key of its own, over HTTP, from the manifest to the last company. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CompanyDataClient } from '../../company-data-client';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey } from '../../company-data-service';
import type { Platform } from '../../domain/platforms';
import { PLATFORMS } from '../../domain/platforms';
import { Secret } from '../../security';
import { removeWrittenFiles, written } from '../manifest/written-files';
import { closedNow } from '../migration/started';
import { until } from '../support/conditions';
import type { Orchestrator } from '../support/orchestrator';
import { startOrchestrator } from '../support/orchestrator';
import { ferry } from './captured';

let orchestrator: Orchestrator;
let client: CompanyDataClient;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  orchestrator = await startOrchestrator();
  const { serviceDatabaseUrl, service } = orchestrator;
  const accountId = await createAccount(serviceDatabaseUrl, { name: 'A client', plan: 'paid' });
  const { key } = await createKey(serviceDatabaseUrl, { accountId, role: 'client' });
  const apiKey = new Secret(key);
  client = createCompanyDataClient({ baseUrl: service.url, apiKey });
  env = { ...orchestrator.env, COMPANY_DATA_API_KEY: key };
  await orchestrator.startWorker({ service: { url: service.url, apiKey } });
});
afterAll(async () => {
  await client.close();
  await orchestrator.close();
  removeWrittenFiles();
});

const SELF_SERVICE = PLATFORMS.filter(({ routes }) => routes.includes('self-service'));

interface Row {
  readonly credential: string;
  readonly invoices?: number;
  readonly serviceCompanyId?: string;
  readonly serviceConnectionId?: string;
}

/** A manifest with everything in it: one company for each test credential, `S-1`, `S-2`, ..., obtained an hour ago. */
function manifestOf({ requiredFields, organizationField }: Platform, rows: readonly Row[]): string {
  const secret = requiredFields.includes('refreshToken') ? 'refreshToken' : 'accessToken';
  return written(
    JSON.stringify(
      rows.map(({ credential, invoices = null, ...ids }, index) => {
        const organization = `o-${randomUUID()}`;
        return {
          reference: `S-${index + 1}`,
          name: `Company ${index + 1}`,
          ...Object.fromEntries(requiredFields.map((field) => [field, 'any'])),
          [organizationField]: organization,
          // The suffix is the organization where the authorization does not name it.
          [secret]: `${credential}.${organization}`,
          expectedInvoices: invoices,
          obtainedAt: new Date(Date.now() - 3_600_000).toISOString(),
          ...ids,
        };
      }),
    ),
    'companies.json',
  );
}

function platform(slug: string): Platform {
  const found = PLATFORMS.find((each) => each.slug === slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}

const run = (...args: string[]) => ferry(args, undefined, env);

async function asJson(...args: string[]): Promise<{ exitCode: number; json: Record<string, unknown> }> {
  const { exitCode, out } = await run(...args, '--json');
  return { exitCode, json: JSON.parse(out) as Record<string, unknown> };
}

const selfService = (slug: string, label: string, rows: readonly Row[], ...more: string[]) =>
  asJson(
    'self-service',
    manifestOf(platform(slug), rows),
    '--platform',
    slug,
    '--client',
    'me',
    '--label',
    label,
    ...more,
  );

interface Reported {
  readonly reference: string;
  readonly state: string;
  readonly organization: string;
  readonly companyId: string;
  readonly connectionId: string;
  readonly failure: string | null;
  readonly failureText: string | null;
}

async function companiesOf(id: string): Promise<readonly Reported[]> {
  return (await asJson('report', id)).json['companies'] as readonly Reported[];
}

describe('every platform of the route', () => {
  const ended = new Map<string, Awaited<ReturnType<typeof asJson>>>();
  // Several together: each takes seconds, most of which it waits.
  beforeAll(async () => {
    const left = [...SELF_SERVICE];
    const inLane = async (): Promise<void> => {
      for (let each = left.pop(); each; each = left.pop()) {
        ended.set(each.slug, await selfService(each.slug, 'table', [{ credential: 'sbx-ok-1' }]));
      }
    };
    await Promise.all(Array.from({ length: 6 }, inLane));
  }, 120_000);

  test.each(SELF_SERVICE)('$name: a company is moved with the key of the client', async ({ slug, key }) => {
    expect(ended.get(slug)).toMatchObject({
      exitCode: 0,
      json: { state: 'completed', counts: { migrated: 1, total: 1 } },
    });
    const [moved] = await companiesOf(`me.${slug}.table`);
    const { value: connection } = await client.getConnection(moved?.companyId ?? '', moved?.connectionId ?? '');
    expect(connection).toMatchObject({ status: 'Linked', integrationKey: key });
    expect(Object.values((await client.dataStatus(moved?.companyId ?? '')).value)).toContainEqual(
      expect.objectContaining({ currentStatus: 'Complete' }),
    );
  });
});

describe('a company that exists already', () => {
  const existing = async (name = 'Here before') =>
    (await client.createCompany({ name, tags: { ours: 'yes' } }, { idempotencyKey: randomUUID() })).value;
  const connected = async (companyId: string, key: string) =>
    (await client.createConnection(companyId, key, { idempotencyKey: randomUUID() })).value;

  test('takes the connection, and keeps its name and tags', async () => {
    const { id, name, tags } = await existing();
    const before = (await client.account()).value.companiesUsed;
    const { json } = await selfService('square', 'named', [{ credential: 'sbx-ok-1', serviceCompanyId: id }]);
    expect(json).toMatchObject({ state: 'completed', counts: { migrated: 1 } });
    const [moved] = await companiesOf('me.square.named');
    expect(moved?.companyId).toBe(id);
    expect((await client.account()).value.companiesUsed).toBe(before);
    expect((await client.getCompany(id)).value).toMatchObject({ name, tags });
  });

  test('takes the authorization on the very connection that is named', async () => {
    const { id } = await existing();
    const [, second] = [await connected(id, 'gbol'), await connected(id, 'gbol')];
    const row = { credential: 'sbx-ok-1', serviceCompanyId: id, serviceConnectionId: second.id };
    expect((await selfService('xero', 'connection', [row])).exitCode).toBe(0);
    expect((await companiesOf('me.xero.connection'))[0]?.connectionId).toBe(second.id);
  });

  test('keeps a connection of the same platform that belongs to another organization', async () => {
    const { id } = await existing();
    const other = await connected(id, 'gbol');
    const fields = { accessToken: 'any', refreshToken: `sbx-ok-1.${randomUUID()}`, tenantId: 'somebody-else' };
    await client.putAuthorization(id, other.id, new Secret(fields));
    expect((await selfService('xero', 'beside', [{ credential: 'sbx-ok-1', serviceCompanyId: id }])).exitCode).toBe(0);
    expect((await companiesOf('me.xero.beside'))[0]?.connectionId).not.toBe(other.id);
    expect((await client.getConnection(id, other.id)).value.connectionInfo?.['organizationId']).toBe('somebody-else');
  });

  test('is not moved when the service has no such company or connection', async () => {
    const { id } = await existing();
    const { json } = await selfService('xero', 'unknown', [
      { credential: 'sbx-ok-1', serviceCompanyId: randomUUID() },
      { credential: 'sbx-ok-1', serviceCompanyId: id, serviceConnectionId: randomUUID() },
    ]);
    expect(json).toMatchObject({ state: 'waiting', counts: { failed: 2, migrated: 0 } });
    const [unknownCompany, unknownConnection] = await companiesOf('me.xero.unknown');
    expect(unknownCompany?.failureText).toContain('404');
    expect(unknownConnection?.failureText).toContain('no connection of this id');
  });

  test('stays when the migration is cancelled before its turn; one that was created goes', async () => {
    const { id } = await existing();
    const rows = [{ credential: 'sbx-unavailable', serviceCompanyId: id }, { credential: 'sbx-unavailable' }];
    await selfService('exact-online-nl', 'cancelled', rows, '--detach');
    const migration = 'me.exact-online-nl.cancelled';
    await until(async () => (await companiesOf(migration)).every(({ connectionId }) => connectionId !== null));
    const [, created] = await companiesOf(migration);
    expect((await run('cancel', migration, '--reason', 'not today', '--as', 'client')).exitCode).toBe(0);
    expect((await run('watch', migration)).exitCode).toBe(1);
    const late = await run('amend', migration, manifestOf(platform('exact-online-nl'), [{ credential: 'sbx-ok-1' }]));
    expect(late.err).toContain('start a new migration for latecomers: ferry self-service FILE --label WORD');
    await orchestrator.ferry.temporal.workflow.getHandle(migration).result();
    expect((await client.getCompany(id)).value.id).toBe(id);
    await expect(client.getCompany(created?.companyId ?? '')).rejects.toThrow('404');
  });

  test.each([
    ['an id that is no UUID', { serviceCompanyId: '17' }, 'invalid-id'],
    ['a connection without its company', { serviceConnectionId: randomUUID() }, 'missing-value'],
  ])('%s is an error of the manifest', async (_, ids, code) => {
    const { exitCode, json } = await selfService('xero', 'bad', [{ credential: 'sbx-ok-1', ...ids }]);
    expect(exitCode).toBe(1);
    expect(json['findings']).toContainEqual(expect.objectContaining({ code, severity: 'error' }));
  });

  test('stands in one row only', async () => {
    const row = { credential: 'sbx-ok-1', serviceCompanyId: randomUUID() };
    const { json } = await selfService('xero', 'twice', [row, row]);
    expect(json['findings']).toContainEqual(expect.objectContaining({ code: 'duplicate-company-id' }));
  });

  test('is named by the short names, too, where the platform has no field of that name', async () => {
    const { id } = await existing();
    const row = `reference,name,merchantId,accessToken,companyId\nS-1,One,o-1,sbx-ok-1.${randomUUID()},${id}`;
    const { exitCode } = await asJson(
      'self-service',
      written(row),
      '-p',
      'clover',
      '--client',
      'me',
      '--label',
      'short',
    );
    expect(exitCode).toBe(0);
    expect((await companiesOf('me.clover.short'))[0]?.companyId).toBe(id);
  });
});

describe('what was not moved', () => {
  test('waits for the client, which tries again, gives a new credential, gives up; then it ends by itself', async () => {
    const id = 'me.xero.failures';
    const rows = [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }, { credential: 'sbx-expired' }];
    const { exitCode, json } = await selfService('xero', 'failures', rows);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      state: 'waiting',
      waitingFor: { roles: ['client'], what: 'say what becomes of 2 companies not moved' },
      counts: { migrated: 1, failed: 2 },
      next: [{ who: 'client', command: `ferry exceptions ${id}` }],
    });

    const failed = (await companiesOf(id)).find(({ reference }) => reference === 'S-2');
    const credentials = written(
      `reference,accessToken,refreshToken,tenantId\nS-2,any,sbx-ok-2.${randomUUID()},${failed?.organization}`,
    );
    const as = ['--as', 'client', '--by', 'Cleo'];
    expect((await run('replace-credential', id, credentials, ...as)).out).toContain(
      'moved again with a new credential',
    );
    expect((await run('skip', id, 'S-3', '--reason', 'closed', ...as)).exitCode).toBe(0);
    expect((await run('watch', id)).exitCode).toBe(0);
    expect((await companiesOf(id)).map(({ state }) => state)).toEqual(['migrated', 'migrated', 'skipped']);
  });

  test('an organization that is connected already keeps anything from beginning', async () => {
    const id = 'me.myob.connected';
    const file = manifestOf(platform('myob'), [{ credential: 'sbx-ok-1' }]);
    const start = (label: string) => asJson('self-service', file, '-p', 'myob', '--client', 'me', '--label', label);
    expect((await start('first')).exitCode).toBe(0);
    const { exitCode, json } = await start('connected');
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ started: false });
    expect(json['findings']).toContainEqual(expect.objectContaining({ code: 'organization-connected' }));
    expect((await run('show', id)).err).toContain(`there is no migration ${id}`);
  });
});

describe('what the check finds after the start', () => {
  test('is left out or corrected, checked again, and then it goes on by itself', async () => {
    const id = 'me.myob.late';
    const first = manifestOf(platform('myob'), [{ credential: 'sbx-ok-1' }]);
    const taken = (JSON.parse(readFileSync(first, 'utf8')) as { companyFileId: string }[])[0]?.companyFileId;
    await asJson('self-service', first, '-p', 'myob', '--client', 'me', '--label', 'before');
    // Whoever cannot ask the service learns it from the worker.
    const blind = { ...env, COMPANY_DATA_API_KEY: undefined, COMPANY_DATA_URL: undefined };
    const csv = (...rows: string[]) =>
      written(['reference,name,companyFileId,accessToken,refreshToken', ...rows].join('\n'));
    const both = csv(`A-1,One,${taken},any,sbx-ok-1.${randomUUID()}`, `A-2,Two,o-2,any,sbx-ok-1.${randomUUID()}`);
    const { exitCode, out } = await ferry(
      ['self-service', both, '-p', 'myob', '--client', 'me', '--label', 'late', '--yes'],
      undefined,
      blind,
    );
    expect(exitCode).toBe(1);
    expect(out).toContain('is connected already');
    expect(out).toContain(`ferry retry ${id} --all --as client --by NAME`);

    expect((await run('retry', id, '--all', '--as', 'client')).out).toContain('checked again');
    const amended = await run('amend', id, csv(`A-1,One,o-1,,`), '--as', 'client');
    expect(amended.out).not.toContain('confirm-sync-disabled');
    const again = written(`reference,accessToken,refreshToken,companyFileId\nA-1,any,sbx-ok-1.${randomUUID()},o-1`);
    expect((await run('credentials', id, again, '--as', 'client')).exitCode).toBe(0);
    expect((await run('watch', id)).exitCode).toBe(0);
    expect((await companiesOf(id)).map(({ state }) => state)).toEqual(['migrated', 'migrated']);
  });
});

test('the client pauses, changes the limits and resumes', async () => {
  const id = 'me.sage-intacct.paused';
  const rows = Array.from({ length: 3 }, () => ({ credential: 'sbx-unavailable-2-ok-1' }));
  await selfService('sage-intacct', 'paused', rows, '--detach');
  const as = ['--as', 'client', '--by', 'Cleo'];
  expect((await run('pause', id, '--reason', 'lunch', ...as)).exitCode).toBe(0);
  expect((await asJson('show', id)).json).toMatchObject({
    state: 'paused',
    waitingFor: { roles: ['client'], what: 'paused: lunch' },
    next: [{ command: `ferry resume ${id} --as client --by NAME` }],
  });
  expect((await run('adjust', id, '--companies-per-slice', '2', ...as)).exitCode).toBe(0);
  expect((await run('resume', id, ...as)).exitCode).toBe(0);
  expect((await run('watch', id)).exitCode).toBe(0);
});

test('outside its windows nothing is started; without them it goes on', async () => {
  const id = 'me.bigcommerce.windows';
  const [closed] = closedNow();
  const window = `${closed?.days[0]} ${closed?.from}-${closed?.to} UTC`;
  await selfService('bigcommerce', 'windows', [{ credential: 'sbx-ok-1' }], '--window', window, '--detach');
  const what = async () => ((await asJson('show', id)).json['waitingFor'] as { what: string }).what;
  await until(async () => (await what()).includes('in the window from'));
  expect((await companiesOf(id))[0]?.state).toBe('waiting');
  await run('adjust', id, '--no-window', '--as', 'client');
  expect((await run('watch', id)).exitCode).toBe(0);
});

describe('before the start', () => {
  test('a platform that only the provider may move is refused, with the command to use', async () => {
    const { exitCode, err } = await run('self-service', 'any.csv', '-p', 'quickbooks-online', '--client', 'me');
    expect(exitCode).toBe(1);
    expect(err).toContain('QuickBooks Online has only the managed route');
    expect(err).toContain('ferry start FILE --platform quickbooks-online --client me');
  });

  test('ferry start of a platform without the managed route names the command to use', async () => {
    const { err } = await run('start', 'any.csv', '-p', 'xero', '--client', 'me');
    expect(err).toContain('ferry self-service FILE --platform xero --client me');
  });

  test('it says what will happen and asks; whoever says no has started nothing', async () => {
    const file = manifestOf(platform('xero'), [{ credential: 'sbx-ok-1' }]);
    const asked: string[] = [];
    const prompts = {
      confirm: async (question: string) => asked.push(question) < 0,
      secret: async () => '',
    };
    const { exitCode, out } = await ferry(['self-service', file, '-p', 'xero', '--client', 'asked'], 120, env, prompts);
    expect(asked).toEqual(['Start?']);
    expect(out).toContain('Xero changes its tokens: those in your own application die');
    expect(out).toContain('Nothing was stored, nothing was started');
    expect(exitCode).toBe(1);
    expect((await run('show', 'asked.xero')).err).toContain('there is no migration asked.xero');
  });

  test('a dry run checks for this route: a client key, no application, credentials of an hour ago', async () => {
    const { exitCode, json } = await selfService('xero', 'dry', [{ credential: 'sbx-ok-1' }], '--dry-run');
    expect(json).toMatchObject({ schema: 'ferry.self-service/1', started: false, dryRun: true, errors: 0 });
    expect((json['findings'] as { code: string }[]).map(({ code }) => code).sort()).toEqual([
      'application-missing',
      'no-expected-invoices',
      'no-family',
    ]);
    expect(exitCode).toBe(0);
  });
});

describe('what people read', () => {
  test('has no steps, no first company, no sign-off', async () => {
    await selfService('netsuite', 'read', [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }]);
    const id = 'me.netsuite.read';
    const show = (await run('show', id)).out;
    expect(show).toContain('self-service, moving the companies');
    expect(show).toContain('client: ferry exceptions me.netsuite.read');
    expect(show).not.toMatch(/step \d|sign|first company|Approved|Callback/i);
    expect((await run('list')).out).toMatch(/me\.netsuite\.read +waiting +self-service +client +2\/2 +1/);
    expect((await run('exceptions', id)).out).toContain(`ferry retry ${id} S-2 --as client --by NAME`);
    expect((await run('companies', id)).exitCode).toBe(0);
    const refused = await run('sign-off', id, '--yes');
    expect(refused.out).toContain('in the self-service route nothing is approved or rejected');
    const report = (await run('report', id)).out;
    expect(report).toContain('- Route: self-service');
    expect((await run('audit', id)).out).toContain('2 credentials supplied');
  });
});
