/** Tests what `ferry doctor` reports about a server that refuses a request, does not answer, or is another server. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Connection } from '@temporalio/client';
import { pino } from 'pino';
import { checkCodecServer } from '../../../cli/doctor/codec-server';
import type { CheckResult } from '../../../cli/doctor';
import { checkService } from '../../../cli/doctor/service';
import { checkWorker } from '../../../cli/doctor/worker';
import { checkWorkerVersions } from '../../../cli/doctor/worker-versions';
import { writeRunningStack, type RunningStack } from '../../../config';
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

/** Writes the file of a running stack, and returns the environment in which commands use this stack. */
function runStack(changes: Partial<RunningStack> = {}): NodeJS.ProcessEnv {
  const home = createTemporaryFolder();
  writeRunningStack(home, {
    ...{ pid: process.pid, temporal: { address: '127.0.0.1:1', namespace: 'default' }, databaseUrl: 'postgres://a/b' },
    ...{ service: { url: '', apiKey: '' }, masterKeyFile: '', vaultSecretsFolder: '', payloadKeyFile: '', ...changes },
  });
  return { TOKENFERRY_HOME: home };
}

test.each<[string, Reply, string, RegExp, RegExp]>([
  ['an expired account', failing(402, 'Payment Required'), 'API key', /answered 402/, /^renew the plan of the account/],
  [
    'a rate limit',
    failing(429, 'Too Many Requests', { 'retry-after': '60' }),
    'API of the service',
    /can be reached, but does not serve requests at the moment: .*answered 429/,
    /could not be checked; to check it later, run: ferry doctor$/,
  ],
  ['another web server', html(200, '<p>Hello</p>'), 'API of the service', /is not JSON/, /^correct COMPANY_DATA_URL/],
  [
    'a failure',
    failing(500, 'no database'),
    'API of the service',
    /API of the service does not work/,
    /^check that the service/,
  ],
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

test('a certificate that cannot be trusted is the finding, with what to do about it', async () => {
  const pem = (name: string): Buffer => readFileSync(path.join(__dirname, '..', '..', 'portal', 'certificates', name));
  const server = createServer({ cert: pem('certificate-1.pem'), key: pem('key-1.pem') }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [found] = await checkService({ value: { url, apiKey: new Secret('any') } }, [], {});
  server.close();
  expect(found).toEqual({
    ...{ check: 'service', verdict: 'problem', finding: 'self-signed certificate' },
    advice: expect.stringMatching(/^check the host in COMPANY_DATA_URL .* set NODE_EXTRA_CA_CERTS /) as unknown,
  });
});

test.each([
  ['postgres://user:hidden@127.0.0.1:1/tokenferry', '127.0.0.1:1'],
  ['postgres:///tokenferry?host=/nowhere', '/nowhere'],
])(
  'the external Postgres of a stack must be started first, and its server is named: %s',
  async (databaseUrl, server) => {
    const { out } = await ferry(['doctor', '--json'], undefined, runStack({ databaseUrl, isDatabaseExternal: true }));
    const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
    expect(checks.find(({ check }) => check === 'database')).toMatchObject({
      finding: expect.stringContaining(`the database at ${server}/tokenferry cannot be used`) as unknown,
      advice: expect.stringMatching(
        /^first make sure that this Postgres, which ferry up does not start, is running .*; then press Ctrl-C /,
      ) as unknown,
    });
  },
);

test('the worker of a stack is restarted with its stack, and another worker by itself', async () => {
  const nowMs = Date.parse('2030-01-06T21:00:00Z');
  const polled = { lastAccessTime: { seconds: nowMs / 1_000 } };
  const workflowService = {
    listWorkflowExecutions: async () => ({ executions: [] }),
    // Only workflow tasks are polled: their queue has type 1.
    describeTaskQueue: async (queue: { taskQueueType: number }) => ({
      pollers: queue.taskQueueType === 1 ? [polled] : [],
    }),
  };
  const connection = { workflowService } as unknown as Connection;
  const payloadKeys = { value: parsePayloadKeys(new Secret(randomBytes(32).toString('base64'))) };
  const adviceIn = async (env: NodeJS.ProcessEnv) =>
    (await checkWorker(connection, 'default', payloadKeys, Promise.resolve(nowMs), env)).advice;
  expect(await adviceIn(runStack())).toBe(
    'to restart the stack, press Ctrl-C in the terminal of ferry up, then run: ferry up',
  );
  expect(await adviceIn({ TOKENFERRY_HOME: '/nowhere' })).toBe(
    'restart the worker that is running; if it has ended, start a worker (node dist/worker/main.js)',
  );
});

test('the number of workers includes workers that have stopped, which Temporal lists for minutes', async () => {
  const nowMs = Date.parse('2030-01-06T21:00:00Z');
  const textWith = async (pollers: number): Promise<string> => {
    const polled = { lastAccessTime: { seconds: nowMs / 1_000 } };
    const workflowService = {
      listWorkflowExecutions: async () => ({ executions: [] }),
      describeTaskQueue: async () => ({ pollers: Array.from({ length: pollers }, () => polled) }),
    };
    const connection = { workflowService } as unknown as Connection;
    const payloadKeys = { value: parsePayloadKeys(new Secret(randomBytes(32).toString('base64'))) };
    return (await checkWorker(connection, 'default', payloadKeys, Promise.resolve(nowMs), {})).finding;
  };
  const unqueried = '; the workers were not queried, because the namespace has no migration';
  expect(await textWith(10)).toBe(
    `10 workers polled in the last two minutes, including any that have stopped since${unqueried}`,
  );
  expect(await textWith(1)).toBe(`1 worker polled in the last two minutes${unqueried}`);
});

test('worker versions: another server that answers late does not make this check fail', async () => {
  const version = { deploymentName: 'ferry', buildId: 'b1' };
  const polling = { deploymentOptions: { ...version, workerVersioningMode: 2 } };
  let deadline = Date.now() + 50;
  const workflowService = {
    describeTaskQueue: async () => ({
      pollers: [{ ...polling, lastAccessTime: { seconds: Date.now() / 1_000 } }],
      versioningInfo: { currentDeploymentVersion: version },
    }),
    describeWorkerDeployment: async () => {
      if (Date.now() > deadline) throw new Error('4 DEADLINE_EXCEEDED');
      return { workerDeploymentInfo: { versionSummaries: [] } };
    },
  };
  const withDeadline = async <T>(newDeadline: number | Date, work: () => Promise<T>): Promise<T> => {
    deadline = Number(newDeadline);
    return work();
  };
  const connection = { workflowService, withDeadline } as unknown as Connection;
  const nowMs = new Promise<number>((resolve) => setTimeout(() => resolve(Date.now()), 100));
  expect(await checkWorkerVersions(connection, 'default', nowMs)).toEqual([
    expect.objectContaining({ verdict: 'ok', finding: 'build b1 is current' }),
  ]);
});

test.each([
  ['a token that gives no access to the namespace', ['another']],
  ['a call to another address than a loopback address without token checks', null],
])('the codec server: %s is not reported as a missing token', async (_, namespaces) => {
  const payloadKeys = parsePayloadKeys(new Secret(randomBytes(32).toString('base64')));
  const codec = await startCodecServer({
    ...{ payloadKeys, origins: [], host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) },
    verifyToken: namespaces && (async () => ({ subject: 'sam', namespaces })),
  });
  // The address 0.0.0.0 leads to this machine, but is not a loopback address.
  const url = namespaces ? codec.url : codec.url.replace('127.0.0.1', '0.0.0.0');
  const env = { TEMPORAL_CODEC_ENDPOINT: url, TEMPORAL_CODEC_AUTH: 'Bearer any' };
  const [found] = await checkCodecServer(env, 'payments', { value: payloadKeys }, undefined);
  await codec.close();
  expect(found).toMatchObject({
    verdict: 'problem',
    finding:
      'the codec server answers 403: either the token gives no access to namespace payments, or the codec server checks no tokens and therefore answers only at localhost or 127.0.0.1',
    advice:
      'set TEMPORAL_CODEC_AUTH to a token that gives access to this namespace; if the codec server checks no tokens, run on its machine, with TEMPORAL_CODEC_ENDPOINT at 127.0.0.1: ferry doctor',
  });
});

test.each([429, 500, 503])(
  'the codec server: after the answer %i, no key is blamed, because only 422 is about keys',
  async (status) => {
    const payloadKeys = { value: parsePayloadKeys(new Secret(randomBytes(32).toString('base64'))) };
    service.answer(failing(status, 'tokens cannot be verified at the moment'));
    const check = async (env: NodeJS.ProcessEnv, stack?: string) =>
      (await checkCodecServer(env, 'payments', payloadKeys, stack))[0];
    const finding = `the codec server answers ${status}, so it could not be checked`;
    expect(await check({ TEMPORAL_CODEC_ENDPOINT: service.url })).toMatchObject({
      ...{
        verdict: 'problem',
        finding,
        advice: "try again in a minute; if this continues, see the codec server's log",
      },
    });
    const home = '/srv/tokenferry';
    expect((await check({ TOKENFERRY_HOME: home }, service.url))?.advice).toBe(
      `try again in a minute; if this continues, see ${home}/logs/codec-server.log`,
    );
    service.answer(failing(422, 'unknown key'));
    const different = { finding: 'this machine and the codec server have different payload keys' };
    expect(await check({ TEMPORAL_CODEC_ENDPOINT: service.url })).toMatchObject(different);
    const ofStack = await check({}, service.url);
    expect(ofStack).toMatchObject(different);
    expect(ofStack?.advice).not.toContain('restart');
    service.answer(failing(404, 'not a codec server'));
    expect((await check({ TEMPORAL_CODEC_ENDPOINT: service.url }))?.advice).toMatch(/^correct TEMPORAL_CODEC_ENDPOINT/);
  },
);

test('a service that is not configured says which commands need it or use it', async () => {
  const { out } = await ferry(['doctor'], undefined, { TOKENFERRY_HOME: '/nowhere' });
  expect(out.replace(/\s+/g, ' ')).toContain(
    'the command ferry application needs the service. The commands ferry check, ferry go-nogo, ferry self-service and ferry start --dry-run use it to check the account. If you run any of these commands on this machine, set COMPANY_DATA_URL and COMPANY_DATA_API_KEY',
  );
});
