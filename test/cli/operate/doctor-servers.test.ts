/** Tests what `ferry doctor` reports about a server that refuses a request, does not answer, or is another server. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { checkCodecServer } from '../../../cli/doctor/codec-server';
import type { CheckResult } from '../../../cli/doctor';
import { checkService } from '../../../cli/doctor/service';
import { writeRunningStack } from '../../../config';
import { parsePayloadKeys, Secret } from '../../../security';
import { startCodecServer } from '../../../security/codec-server';
import { createTemporaryFolder } from '../../../stack/folders';
import {
  failing,
  html,
  startMisbehavingService,
  type MisbehavingService,
  type Reply,
} from '../../company-data-client/misbehaving-service';
import { ferry } from '../captured-terminal';

let service: MisbehavingService;
beforeAll(async () => {
  service = await startMisbehavingService();
});
afterAll(() => service.close());

test.each<[string, Reply, string, RegExp, RegExp]>([
  ['an expired account', failing(402, 'Payment Required'), 'API key', /answered 402/, /^renew the plan of the account/],
  [
    'a rate limit',
    failing(429, 'Too Many Requests', { 'retry-after': '60' }),
    'service',
    /can be reached, but does not serve requests at the moment: .*answered 429/,
    /could not be checked; to check it later, run: ferry doctor$/,
  ],
  ['another web server', html(200, '<p>Hello</p>'), 'service', /is not JSON/, /^correct COMPANY_DATA_URL/],
  ['a failure', failing(500, 'no database'), 'service', /API of the service does not work/, /^check that the service/],
])('the service: %s has its own advice', async (_, reply, about, finding, advice) => {
  service.answer(reply);
  const results = await checkService({ value: { url: service.url, apiKey: new Secret('any') } }, [], true);
  expect(results.filter(({ verdict }) => verdict === 'problem')).toEqual([
    {
      ...{ check: about, verdict: 'problem' },
      ...{ finding: expect.stringMatching(finding) as unknown, advice: expect.stringMatching(advice) as unknown },
    },
  ]);
});

test.each([
  [true, 'start the service, or correct COMPANY_DATA_URL; to use a stack on this machine instead'],
  [false, 'to restart the stack, press Ctrl-C in the terminal of ferry up'],
])('the service does not answer; its address is from the environment: %s', async (isFromEnvironment, advice) => {
  const unreachable = { value: { url: 'http://127.0.0.1:1', apiKey: new Secret('any') } };
  const [found] = await checkService(unreachable, [], isFromEnvironment);
  expect(found).toMatchObject({ check: 'service', advice: expect.stringContaining(advice) as unknown });
});

test('the database of a stack: an external Postgres must be started at its host first', async () => {
  const home = createTemporaryFolder();
  const databaseOf = async (isDatabaseExternal: boolean) => {
    writeRunningStack(home, {
      ...{ pid: process.pid, databaseUrl: 'postgres://user:hidden@127.0.0.1:1/tokenferry', isDatabaseExternal },
      ...{ temporal: { address: '127.0.0.1:1', namespace: 'default' }, service: { url: '', apiKey: '' } },
      ...{ masterKeyFile: '', vaultSecretsFolder: '', payloadKeyFile: '' },
    });
    const { out } = await ferry(['doctor', '--json'], undefined, { TOKENFERRY_HOME: home });
    const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
    return checks.find(({ check }) => check === 'database')?.advice;
  };
  const restart = 'to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up';
  expect(await databaseOf(false)).toBe(restart);
  expect(await databaseOf(true)).toBe(`first start Postgres at 127.0.0.1:1; then, ${restart}`);
});

test('the codec server: a token that gives no access to the namespace is not reported as missing', async () => {
  const payloadKeys = parsePayloadKeys(new Secret(randomBytes(32).toString('base64')));
  const codec = await startCodecServer({
    ...{ payloadKeys, origins: [], host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) },
    verifyToken: async () => ({ subject: 'sam', namespaces: ['another'] }),
  });
  const env = { TEMPORAL_CODEC_ENDPOINT: codec.url, TEMPORAL_CODEC_AUTH: 'Bearer any' };
  const [found] = await checkCodecServer(env, 'payments', { value: payloadKeys }, undefined);
  await codec.close();
  expect(found).toMatchObject({
    verdict: 'problem',
    finding: expect.stringContaining('the token gives no access to namespace payments') as unknown,
  });
});
