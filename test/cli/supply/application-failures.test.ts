/**
 * Tests what `ferry application` advises if options are missing, or if the service does not register an application
 * that was accepted.
 */
import { failing, html, type Reply } from '../../company-data-client/misbehaving-service';
import { startHttpProxy, type HttpProxy } from '../../support/faults/http-proxy';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();
let proxy: HttpProxy;
let id: string;
beforeAll(async () => {
  proxy = await startHttpProxy(orchestrator.service.url);
  ({ id } = await startTestMigration(orchestrator, 'unregistered', ['sbx-ok-1.ur1']));
});
afterAll(() => proxy.close());

test.each<[string, Reply, RegExp]>([
  [
    'a wrong id or secret',
    failing(400, 'invalid client'),
    /; check the client id, the environment and the secret\. Then run the command again\n$/,
  ],
  [
    'a rate limit',
    failing(429, 'too many requests', { 'retry-after': '60' }),
    /answered 429.* after \S+; run the command again after this time\n$/,
  ],
  [
    'another server',
    html(404, '<p>Hello</p>'),
    /; something other than the service has answered; .*\. Then run the command again\n$/,
  ],
])('%s has its own advice', async (_, reply, advice) => {
  proxy.reset();
  proxy.on('PUT', /./, reply);
  const { exitCode, err } = await ferry(
    ['application', id, '--client-id', 'app', '--environment', 'production', '--as', 'client', '--by', 'Cleo'],
    undefined,
    { ...orchestrator.env, COMPANY_DATA_URL: proxy.url },
    { secret: async () => 'secret', confirm: async () => true },
  );
  expect(exitCode).toBe(1);
  expect(err).toContain('the migration has accepted the application, but its registration with the service failed: ');
  expect(err).toMatch(advice);
});

test('the migrations of the client whose check missed the application are named, with the command that checks them again', async () => {
  const labelled = (label: string) =>
    startTestMigration(orchestrator, 'relative', [`sbx-ok-1.${label}`], null, { slug: 'wave', label });
  const [earlier, later] = [await labelled('one'), await labelled('two')];
  const shared = { clientId: 'shared-app', environment: 'production' } as const;
  expect(await earlier.send('applicationSupplied', { ...shared, ...CLIENT })).toBe('applied');
  await earlier.until(
    ({ checking, preflight }) => !checking && preflight?.problemCodes.includes('application-differs') === true,
  );
  const register = async () => {
    const options = ['--client-id', shared.clientId, '--environment', shared.environment, '--as', 'client'];
    const args = ['application', later.id, ...options, '--by', 'Cleo'];
    return ferry(args, undefined, orchestrator.env, { secret: async () => 'secret', confirm: async () => true });
  };
  const check = ['reject', earlier.id, 'supply-details', '--reason'];
  expect((await register()).out).toContain(
    `${earlier.id} was checked before this application was registered; check it again with: ferry ${check.join(' ')} "check again"\n`,
  );
  await ferry([...check, 'check again', '--by', 'Sam', '--yes'], undefined, orchestrator.env);
  await earlier.until(({ checking, preflight }) => !checking && preflight?.problems.length === 0);
  const { exitCode, out } = await register();
  expect(exitCode).toBe(0);
  expect(out).not.toContain('check it again');
});

const SEALED = '--sealed with the file from the client';

test.each([
  [['--client-id', 'x'], '--client-id needs --environment; nothing was sent; add --environment production or '],
  [
    ['--environment', 'sandbox'],
    '--environment needs --client-id; nothing was sent; add --client-id with the client id',
  ],
  [[], `the application is not specified; add --client-id and --environment, or ${SEALED}\n`],
])('the option that is missing is named: %j', async (options, says) => {
  const command = ['application', id, ...options, '--as', 'client', '--by', 'Cleo'];
  const { exitCode, err } = await ferry(command, undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(err).toContain(`ferry: ${says}`);
});
