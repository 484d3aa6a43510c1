/**
 * Tests how `ferry check` and `ferry start --dry-run` find problems with the account, the platform and other
 * migrations.
 */
import { randomUUID } from 'node:crypto';
import { failing, startMisbehavingService } from '../../company-data-client/misbehaving-service';
import { createAccount, createKey } from '../../../company-data-service';
import { Secret } from '../../../security';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson, MANIFEST } from '../command-line';

const orchestrator = useOrchestrator();
afterAll(async () => {
  removeTempFiles();
});

const QUICKBOOKS = ['--platform', 'quickbooks-online'];
const HEADER = 'reference,name,realmId,expectedInvoices\n';
const run = (args: string[], env: NodeJS.ProcessEnv = {}) => ferry(args, undefined, { ...orchestrator.env, ...env });

/** Connects an organization to a company in the account. */
async function connectOrganization(realmId: string): Promise<void> {
  const client = orchestrator.client();
  const key = { idempotencyKey: randomUUID() };
  const { value: company } = await client.createCompany({ name: 'Here before' }, key);
  const { value: connection } = await client.createConnection(company.id, 'qhyg', key);
  const fields = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId };
  await client.putAuthorization(company.id, connection.id, new Secret(fields));
}

test('check prints the estimated duration if manifest and account are valid', async () => {
  const { exitCode, json } = await runJson(orchestrator, 'check', MANIFEST, ...QUICKBOOKS);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({
    ok: true,
    asked: ['account', 'other migrations'],
    errors: 0,
    estimate: { basis: 'assumed', volume: { companies: 25 } },
  });
  expect((await run(['check', MANIFEST, ...QUICKBOOKS])).out).toMatch(/Estimated duration: .* to .*/);
});

test('check says what it did not check if only the service or only the database is configured', async () => {
  const { DATABASE_URL, COMPANY_DATA_URL, COMPANY_DATA_API_KEY } = orchestrator.env;
  const home = { TOKENFERRY_HOME: '/nowhere' };
  const check = async (env: NodeJS.ProcessEnv) =>
    (await ferry(['check', MANIFEST, ...QUICKBOOKS], undefined, { ...home, ...env })).out;
  expect(await check({ DATABASE_URL })).toContain(
    'The account was not checked: the service (COMPANY_DATA_URL) is not configured.',
  );
  expect(await check({ COMPANY_DATA_URL, COMPANY_DATA_API_KEY })).toContain(
    'Other migrations were not checked: the database (DATABASE_URL) is not configured.',
  );
});

test('an organization that is already connected causes an error with its position in the file', async () => {
  await connectOrganization('4711');
  const file = tempFile(`${HEADER}A-1,Acme,17,1\nA-2,Bolt,4711,1\n`);
  const { exitCode, json } = await runJson(orchestrator, 'check', file, ...QUICKBOOKS);
  expect(exitCode).toBe(1);
  expect(json['findings']).toEqual([
    expect.objectContaining({
      ...{ code: 'organization-connected', severity: 'error', file, line: 3, column: 3 },
      advice: 'remove the row or, if the migration has already started, leave the company out',
    }),
  ]);
  expect((await runJson(orchestrator, 'check', file, ...QUICKBOOKS, '--offline')).json).toMatchObject({
    ok: true,
    asked: [],
    notChecked: ['account', 'other migrations'],
  });
});

test("a client's key and a trial account that is too small cause errors", async () => {
  const accountId = await createAccount(orchestrator.serviceDatabaseUrl, { name: 'Small', plan: 'trial' });
  const { key } = await createKey(orchestrator.serviceDatabaseUrl, { accountId, role: 'client' });
  const rows = Array.from({ length: 51 }, (_, i) => `A-${i},Company ${i},${i + 1},1`);
  const file = tempFile(HEADER + rows.join('\n'));
  const { exitCode, out } = await run(['check', file, ...QUICKBOOKS], { COMPANY_DATA_API_KEY: key });
  expect(exitCode).toBe(1);
  expect(out).toContain('Account and other migrations');
  expect(out).toContain("Tokenferry's API key is not an administrator key");
  expect(out).toContain('the account has room for 50 companies, not for 51');
  expect(out).toContain('no QuickBooks Online application is registered');
  expect(out).not.toContain(key);
});

test('an application that is not registered yet causes only a warning, because step 1 asks for it', async () => {
  const accountId = await createAccount(orchestrator.serviceDatabaseUrl, { name: 'New', plan: 'paid' });
  const { key } = await createKey(orchestrator.serviceDatabaseUrl, { accountId, role: 'administrator' });
  const { exitCode, out } = await run(['check', MANIFEST, ...QUICKBOOKS], { COMPANY_DATA_API_KEY: key });
  expect(out).toMatch(/warning .*no QuickBooks Online application is registered/);
  expect(out).toContain('in step 1');
  expect(out).not.toContain('Not checked');
  expect(exitCode).toBe(0);
});

test('check says that it cannot know which companies of other clients depend on the registered application', async () => {
  const { out } = await run(['check', MANIFEST, ...QUICKBOOKS]);
  expect(out).toMatch(
    /^Not checked: whether another client's companies depend on the registered application, because ferry check does not know the client\./m,
  );
  const dryRun = `ferry start ${MANIFEST} ${QUICKBOOKS.join(' ')} --client "short name" --dry-run`;
  expect(out).toContain(` To check this, run:\n  ${dryRun}\n`);
  expect((await runJson(orchestrator, 'check', MANIFEST, ...QUICKBOOKS)).json['notChecked']).toEqual(['dependents']);
  expect((await run(['check', MANIFEST, ...QUICKBOOKS, '--offline'])).out).not.toContain('Not checked');
  expect((await run(['start', MANIFEST, ...QUICKBOOKS, '--client', 'any', '--dry-run'])).out).not.toContain(
    'Not checked',
  );
});

test.each([
  ['missing', '/nonexistent/manifest.csv'],
  ['empty', tempFile('')],
  ['without rows', tempFile(HEADER)],
])('check suggests no dry run of a file that is %s', async (_, file) => {
  const { exitCode, out } = await run(['check', file, ...QUICKBOOKS]);
  expect(exitCode).toBe(1);
  expect(out).not.toContain('Not checked');
});

test.each<[string, NodeJS.ProcessEnv, string]>([
  ['service', { COMPANY_DATA_URL: 'http://127.0.0.1:1' }, 'the account could not be checked'],
  ['database', { DATABASE_URL: 'postgres://127.0.0.1:1/none' }, 'other migrations could not be checked'],
])('an unreachable %s causes only a warning', async (_, env, warning) => {
  const { exitCode, out } = await run(['check', MANIFEST, ...QUICKBOOKS], env);
  expect(exitCode).toBe(0);
  expect(out).toContain(warning);
});

test('a service that asks for a later retry causes a warning that says when to run the command again', async () => {
  const service = await startMisbehavingService();
  service.answer(failing(429, 'Too many requests.', { 'retry-after': '120' }));
  try {
    const { out } = await run(['check', MANIFEST, ...QUICKBOOKS], { COMPANY_DATA_URL: service.url });
    expect(out).toMatch(/the account could not be checked: .* asks for a retry after 20\d\d-/);
    expect(out).toContain('run the command again after this time');
    expect(out).not.toContain('check the service at');
  } finally {
    await service.close();
  }
});

test('an incomplete configuration is an error, not a skipped check', async () => {
  const { exitCode, err } = await run(['check', MANIFEST, ...QUICKBOOKS], { COMPANY_DATA_API_KEY: '' });
  expect(exitCode).toBe(1);
  expect(err).toContain('COMPANY_DATA_API_KEY is not');
});

describe('a dry run', () => {
  const start = (client: string, file = MANIFEST) => ['start', file, ...QUICKBOOKS, '--client', client, '--dry-run'];

  test('runs all checks, but stores and starts nothing', async () => {
    const { exitCode, json } = await runJson(orchestrator, ...start('dry'));
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      schema: 'ferry.start/1',
      started: false,
      dryRun: true,
      migrationId: 'dry.quickbooks-online',
      asked: ['account', 'other migrations'],
      errors: 0,
    });
    expect((await run(start('dry'))).out).toContain('nothing was stored or started');
    expect((await run(['show', 'dry.quickbooks-online'])).err).toContain('there is no migration');
    expect(await orchestrator.ferry.db.selectFrom('migrations').select('id').execute()).toEqual([]);
  });

  test('reports an existing migration, and an open migration with the same organizations', async () => {
    await orchestrator.startWorker();
    await run(['start', MANIFEST, ...QUICKBOOKS, '--client', 'real']);
    const codes = async (client: string): Promise<readonly string[]> => {
      const { exitCode, json } = await runJson(orchestrator, ...start(client));
      expect(exitCode).toBe(1);
      const errors = (json['findings'] as { code: string; severity: string }[]).filter((f) => f.severity === 'error');
      return [...new Set(errors.map(({ code }) => code))];
    };
    expect(await codes('real')).toEqual(['migration-exists']);
    expect(await codes('other')).toEqual(['organization-open-elsewhere']);
    expect((await run(start('other'))).out).toContain('is already part of migration real.quickbooks-online');
  });

  test('refuses a platform without the managed route, as ferry start does', async () => {
    const selfService = ['start', MANIFEST, '--platform', 'xero', '--client', 'x', '--dry-run'];
    expect((await run(selfService)).err).toContain('Xero has no managed route');
  });
});
