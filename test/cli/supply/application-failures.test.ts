/**
 * Tests what `ferry application` advises if options are missing, or if the service does not register an application
 * that was accepted.
 */
import { failing, html, type Reply } from '../../company-data-client/misbehaving-service';
import { startHttpProxy, type HttpProxy } from '../../support/faults/http-proxy';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
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
