/**
 * Traces from the command to the service, across processes, while workers with and without tracing replace one another.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Info } from '@temporalio/activity';
import { traceActivities } from '../../worker/traces';
import { until } from '../support/async';
import { startHttpProxy, type HttpProxy } from '../support/faults/http-proxy';
import { startJsonProcess, type JsonProcess } from '../support/servers/json-process';
import { SERVICE_KEY } from '../support/servers/keys';
import { startOrchestrator, type OpenedOrchestrator } from '../support/servers/orchestrator';
import { startTraceReceiver, type TraceReceiver } from '../support/servers/trace-receiver';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../workflows/running-migration';

/** Texts that must not be exported, in addition to the keys. */
const REASON = 'The reason says hidden-in-the-reason';
const PERSON = 'Hidden Person';

const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
let orchestrator: OpenedOrchestrator;
let receiver: TraceReceiver;
let service: JsonProcess;
let proxy: HttpProxy;
let worker: JsonProcess | undefined;
let migration: TestMigration;

beforeAll(async () => {
  [orchestrator, receiver] = await Promise.all([startOrchestrator(), startTraceReceiver()]);
  service = startJsonProcess(
    ['stack/processes/service.js', ...['--port', '0', '--requests-per-minute', '100000']],
    traced({ DATABASE_URL: orchestrator.serviceDatabaseUrl, TOKENFERRY_SERVICE_KEY: SERVICE_KEY }),
  );
  const { msg } = await service.untilLogged('Server listening at');
  proxy = await startHttpProxy(msg.replace(/^.* at /, ''));
});
afterAll(async () => {
  await Promise.all([worker?.end(), service.end()]);
  await Promise.all([proxy.close(), receiver.close(), orchestrator.close()]);
  rmSync(folder, { recursive: true });
});

function traced(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden-collector-key',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
}

/** Replaces the worker, so that the new worker replays the work of the old worker. */
async function replaceWorker(tracing: boolean, nodeArgs: readonly string[] = []): Promise<JsonProcess> {
  await worker?.end();
  const env = { ...orchestrator.env, COMPANY_DATA_URL: proxy.url };
  worker = startJsonProcess(['worker/main.js'], tracing ? traced(env) : env, nodeArgs);
  return worker;
}

async function ferry(...args: string[]): Promise<void> {
  const command = startJsonProcess(['../bin/ferry.js', ...args], traced(orchestrator.env));
  if ((await command.exited) !== 0) throw new Error(command.output());
}

const spanNamed = (service_: string, name: RegExp) =>
  receiver.spans().filter((span) => span.service === service_ && name.test(span.name));

test('a worker without tracing brings the migration to the first company', async () => {
  await replaceWorker(false);
  migration = await startTestMigration(orchestrator, 'traced', ['sbx-ok-1.tr1', 'sbx-ok-1.tr2']);
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('pause', SUPPORT);
  await migration.readyToMove();
  expect(receiver.spans()).toEqual([]);
});

test('one trace leads from the command through workflow and activity to the service', async () => {
  await replaceWorker(true);
  await ferry('resume', migration.id, '--as', 'support', '--by', PERSON, '--reason', REASON);
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await until(() => spanNamed('tokenferry-service', /^PUT .*authorization$/).length > 0);
  await until(() => spanNamed('tokenferry-worker', /^activity advanceFirstCompany$/).length > 0);
  await until(() => spanNamed('tokenferry-worker', /^(update|signal) resume$/).length > 0);

  const [moved] = spanNamed('tokenferry-service', /^POST .companies$/);
  if (!moved) throw new Error('the service has not continued the trace');
  // If no worker answers the update within 2 seconds, `ferry` also sends a signal, which can then lead to the move.
  expect(receiver.chainTo(moved)).toEqual([
    'ferry: decide resume',
    expect.stringMatching(/^ferry: (update|signal) resume$/),
    expect.stringMatching(/^tokenferry-worker: (update|signal) resume$/),
    'tokenferry-worker: activity advanceFirstCompany',
    'tokenferry-worker: POST /companies',
    'tokenferry-service: POST /companies',
  ]);
  const [activity] = spanNamed('tokenferry-worker', /^activity advanceFirstCompany$/);
  expect(activity?.attributes).toEqual({
    'tokenferry.migration': migration.id,
    'tokenferry.run': expect.any(String) as string,
    'tokenferry.step': 'migrate-first-company',
    'tokenferry.attempt': expect.any(Number) as number,
  });
  expect(moved.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/companies',
    'http.response.status_code': 200,
    'tokenferry.correlation_id': expect.any(String) as string,
  });
});

test('a slice has its own trace, and log lines of its retries have the ids of this trace', async () => {
  const correlationId = randomUUID();
  const headers = { 'content-type': 'application/json', 'x-correlation-id': correlationId };
  proxy.on('GET', /^.companies.+connections/, [(response) => void response.writeHead(503, headers).end('{}')]);
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 2);
  const isAuthorization = /^PUT .*authorization$/;
  await until(() => spanNamed('tokenferry-worker', /^slice importSlice$/).length > 0);
  await until(() => spanNamed('tokenferry-service', isAuthorization).length > 1);
  const chains = spanNamed('tokenferry-service', isAuthorization).map((span) => receiver.chainTo(span));
  expect(chains).toContainEqual([
    'tokenferry-worker: slice importSlice',
    'tokenferry-worker: activity importSlice',
    'tokenferry-worker: PUT /companies/{id}/connections/{id}/authorization',
    'tokenferry-service: PUT /companies/:companyId/connections/:connectionId/authorization',
  ]);

  const retry = await worker?.untilLogged('a call to the service failed and will be retried');
  const ids = { migration: migration.id, run: expect.any(String) as string, correlationId };
  expect(retry).toMatchObject({ ...ids, activity: expect.stringMatching(/Slice$/) as string });
});

test('a worker without tracing completes the migration', async () => {
  await replaceWorker(false);
  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  await migration.send('approve', { step: 'complete-migration', ...CLIENT });
  await migration.until(({ state }) => state === 'completed');
});

test('nothing that was exported contains a credential, a key, a name or a reason', () => {
  const { COMPANY_DATA_API_KEY = '', TOKENFERRY_MASTER_KEY = '', TOKENFERRY_PAYLOAD_KEY = '' } = orchestrator.env;
  const exported = receiver.text();
  expect(exported).toContain(migration.id);
  const secrets = [COMPANY_DATA_API_KEY, TOKENFERRY_MASTER_KEY, TOKENFERRY_PAYLOAD_KEY, SERVICE_KEY, 'sbx-ok'];
  for (const text of [...secrets, 'hidden', 'Hidden', 'Company 1', 'Company 2', 'R-1', 'Cleo', 'Sam', 'Basic '])
    expect(exported).not.toContain(text);
});

describe('without an endpoint', () => {
  const preload = path.join(folder, 'preload.js');
  const list = path.join(folder, 'modules.json');
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)},
      JSON.stringify(Object.keys(require.cache))))`,
  );
  const loaded = (): readonly string[] => JSON.parse(readFileSync(list, 'utf8')) as string[];

  it.each([
    [
      'ferry',
      async () => {
        const command = startJsonProcess(['../bin/ferry.js', 'list'], orchestrator.env, ['--require', preload]);
        expect(await command.exited).toBe(0);
        return command;
      },
    ],
    [
      'the worker',
      async () => {
        const started = await replaceWorker(false, ['--require', preload]);
        await until(() => started.output().includes('RUNNING'));
        return started;
      },
    ],
  ])('%s loads nothing of OpenTelemetry', async (_, start) => {
    await (await start()).end();
    expect(loaded().length).toBeGreaterThan(0);
    // prom-client, which keeps the metrics, loads the API of OpenTelemetry.
    expect(loaded().filter((file) => /open-telemetry\.js|@opentelemetry.(?!api\b)/.test(file))).toEqual([]);
  });
});

/** Returns the attributes that are added to the SDK's log lines of an activity. */
function logAttributes(activityType: string): Record<string, unknown> {
  const { outbound } = traceActivities({ info: { activityType } as Info } as never);
  return outbound?.getLogAttributes?.({}, (attributes) => attributes) ?? {};
}

test('log lines of an activity that runs only in one step name the step', () => {
  expect(logAttributes('importSlice')).toEqual({ step: 'complete-migration' });
});

test('log lines of the preflight name no step, because it also runs when details change in later steps', () => {
  expect(logAttributes('preflight')).toEqual({});
});
