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

const UNREACHABLE = 'http://127.0.0.1:1';

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
  const results = await checkService({ value: { url: service.url, apiKey: new Secret('any') } }, [], {});
  expect(results.filter(({ verdict }) => verdict === 'problem')).toEqual([
    {
      ...{ check: about, verdict: 'problem' },
      ...{ finding: expect.stringMatching(finding) as unknown, advice: expect.stringMatching(advice) as unknown },
    },
  ]);
});

test.each([
  ['of its stack', {}, 'to restart the stack, press Ctrl-C in the terminal of ferry up'],
  ['of the environment', { COMPANY_DATA_URL: UNREACHABLE }, 'start the service, or correct COMPANY_DATA_URL; to use '],
])('the service %s does not answer', async (_, env, advice) => {
  const [found] = await checkService({ value: { url: UNREACHABLE, apiKey: new Secret('any') } }, [], env);
  expect(found).toMatchObject({ check: 'service', advice: expect.stringContaining(advice) as unknown });
});

test.each([
  ['postgres://user:hidden@127.0.0.1:1/tokenferry', '127.0.0.1:1'],
  ['postgres:///tokenferry?host=/nowhere', '/nowhere'],
])(
  'the external Postgres of a stack must be started first, and its server is named: %s',
  async (databaseUrl, server) => {
    const home = createTemporaryFolder();
    writeRunningStack(home, {
      ...{ pid: process.pid, databaseUrl, isDatabaseExternal: true, service: { url: '', apiKey: '' } },
      temporal: { address: '127.0.0.1:1', namespace: 'default' },
      ...{ masterKeyFile: '', vaultSecretsFolder: '', payloadKeyFile: '' },
    });
    const { out } = await ferry(['doctor', '--json'], undefined, { TOKENFERRY_HOME: home });
    const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
    expect(checks.find(({ check }) => check === 'database')).toMatchObject({
      finding: expect.stringContaining(`the database at ${server}/tokenferry cannot be used`) as unknown,
      advice: expect.stringMatching(
        /^first start this Postgres, because ferry up does not; then press Ctrl-C /,
      ) as unknown,
    });
  },
);

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
