/** The worker as a separate process: its start during an outage, its log, its health, and its shutdown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SWEEP, TASK_QUEUE } from '../../workflows/messages';
import { startRelay, type Relay } from '../cli/terminal/tcp-relay';
import { until } from '../support/async';
import { startJsonProcess, type JsonProcess } from '../support/servers/json-process';
import { startOrchestrator, type OpenedOrchestrator } from '../support/servers/orchestrator';

const MAIN = ['worker/main.js'] as const;

let orchestrator: OpenedOrchestrator;
let ledger: Relay;
let temporal: Relay;
let worker: JsonProcess | undefined;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  ledger = await startRelay(new URL(orchestrator.config.databaseUrl.reveal()).host);
  temporal = await startRelay(orchestrator.config.temporal.address);
});
afterEach(async () => {
  await worker?.end('SIGKILL');
});
afterAll(async () => {
  await Promise.all([ledger, temporal].map((relay) => relay.cut()));
  await orchestrator.close();
});

/** Returns the worker's variables, with the relays as the addresses of Postgres and Temporal. */
function variables(): NodeJS.ProcessEnv {
  const url = new URL(orchestrator.config.databaseUrl.reveal());
  url.host = ledger.address;
  return {
    ...orchestrator.env,
    TEMPORAL_ADDRESS: temporal.address,
    DATABASE_URL: url.href,
    TOKENFERRY_HEALTH_ADDRESS: '127.0.0.1:0',
  };
}

interface HealthAnswer {
  readonly status: string;
  readonly checks: Readonly<Record<string, { readonly status: string; readonly why?: string }>>;
}

async function healthOf(kind: 'live' | 'ready'): Promise<HealthAnswer & { readonly httpStatus: number }> {
  if (!worker) throw new Error('there is no worker');
  const { url } = await worker.untilLogged('health checks and metrics are served');
  const response = await fetch(`${String(url)}/health/${kind}`);
  return { ...((await response.json()) as HealthAnswer), httpStatus: response.status };
}

describe.each([
  { down: 'Postgres', why: 'cannot be used: connect ECONNREFUSED', relay: () => ledger },
  { down: 'Temporal', why: 'cannot be reached', relay: () => temporal },
])('a worker that starts while $down is down', ({ why, relay }) => {
  it('waits, logs this as JSON, is alive but not ready, and continues automatically', async () => {
    await relay().cut();
    worker = startJsonProcess(MAIN, variables());
    expect(await worker.untilLogged(why)).toMatchObject({
      level: 40,
      msg: 'waiting, and trying again',
      why: expect.stringContaining(relay().address) as string,
    });
    expect(await healthOf('live')).toMatchObject({ httpStatus: 200, status: 'ok' });
    expect(await healthOf('ready')).toMatchObject({
      httpStatus: 503,
      checks: { started: { status: 'failing', why: expect.stringContaining(why) as string } },
    });

    await relay().restore();
    await worker.untilLogged('the wait is over');
    await until(async () => (await healthOf('ready')).httpStatus === 200);
    expect(Object.keys((await healthOf('ready')).checks)).toEqual(['started', 'ledger', 'temporal', 'workflow tasks']);
    expect(await worker.end()).toBe(0);
    const lines = worker.lines();
    expect(lines[0]).toMatchObject({ msg: 'the worker is starting' });
    expect(lines.at(-1)).toMatchObject({ msg: 'the worker has stopped', afterMs: expect.any(Number) as number });
  });

  it('stops at once when it is told to', async () => {
    await relay().cut();
    worker = startJsonProcess(MAIN, variables());
    await worker.untilLogged(why);
    expect(await worker.end()).toBe(0);
    expect(worker.lines().at(-1)).toMatchObject({ msg: 'the worker has stopped' });
    await relay().restore();
  });
});

test('a worker that loses Postgres and Temporal is not ready until they answer again, and stays alive', async () => {
  worker = startJsonProcess(MAIN, variables());
  await until(async () => (await healthOf('ready')).httpStatus === 200);
  await Promise.all([ledger.cut(), temporal.cut()]);
  await until(async () => {
    const { checks } = await healthOf('ready');
    return checks['ledger']?.status === 'failing' && checks['temporal']?.status === 'failing';
  });
  expect(await healthOf('live')).toMatchObject({ httpStatus: 200 });
  await Promise.all([ledger.restore(), temporal.restore()]);
  await until(async () => (await healthOf('ready')).httpStatus === 200);
});

test('a worker whose workflow tasks all fail is not ready until a task is completed', async () => {
  const { workflow } = orchestrator.ferry.temporal;
  worker = startJsonProcess(MAIN, variables());
  await until(async () => (await healthOf('ready')).httpStatus === 200);
  const start = (type: string, workflowId: string) =>
    workflow.start(type, { taskQueue: TASK_QUEUE, workflowId, args: [] });
  const unknown = await Promise.all(
    [1, 2, 3].map((number) => start('noSuchWorkflow', `unknown.workflow.number-${number}`)),
  );
  await until(async () => (await healthOf('ready')).checks['workflow tasks']?.status === 'failing');
  const run = unknown[0]?.firstExecutionRunId;
  const failed = worker.lines().filter((line) => line.level >= 40 && line['run'] === run);
  // Lines of the SDK's native part (`core`) name only the run, and the worker adds the migration.
  expect(failed.map(({ migration }) => migration)).toEqual(failed.map(() => 'unknown.workflow.number-1'));
  expect(failed.map(({ sdkComponent }) => sdkComponent)).toEqual(expect.arrayContaining(['core', 'worker']));
  expect(await healthOf('live')).toMatchObject({ httpStatus: 200 });

  for (const handle of unknown) await handle.terminate('a test');
  await (await start(SWEEP, 'sweep-of-the-health-test')).result();
  await until(async () => (await healthOf('ready')).httpStatus === 200);
});

test('a worker that was suspended ends, because its tasks are outdated', async () => {
  worker = startJsonProcess(MAIN, variables());
  await until(async () => (await healthOf('ready')).httpStatus === 200);
  const exited = worker.end('SIGSTOP');
  await delay(12_000);
  void worker.end('SIGCONT');
  expect(await exited).toBe(1);
  expect(worker.lines().at(-1)).toMatchObject({
    level: 60,
    err: { message: expect.stringMatching(/^the worker did not run for 1\d s, because/) as string },
  });
});

test.each([
  { cause: 'a wrong variable', changes: { TOKENFERRY_MASTER_KEY: 'short' }, why: 'TOKENFERRY_MASTER_KEY' },
  { cause: 'a missing database', changes: { DATABASE_URL: '/no-such-database' }, why: 'does not exist' },
  { cause: 'a wrong namespace', changes: { TEMPORAL_NAMESPACE: 'no-such-namespace' }, why: 'no-such-namespace' },
  { cause: 'a port in use', changes: { TOKENFERRY_HEALTH_ADDRESS: 'temporal' }, why: 'EADDRINUSE' },
])('a worker with $cause ends, and its last line contains the reason as JSON', async ({ changes, why }) => {
  const { DATABASE_URL: url = '' } = variables();
  const changed = Object.fromEntries(
    Object.entries(changes).map(([name, value]) => {
      if (name === 'DATABASE_URL') return [name, new URL(value, url).href];
      return [name, value === 'temporal' ? orchestrator.config.temporal.address : value];
    }),
  );
  worker = startJsonProcess(MAIN, { ...variables(), ...changed });
  expect(await worker.exited).toBe(1);
  expect(worker.lines().at(-1)).toMatchObject({
    level: 60,
    msg: 'the worker has ended; correct the cause and start the worker again',
    err: { message: expect.stringContaining(why) as string },
  });
});

describe('warnings and errors of Node.js', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are JSON lines, too', async () => {
    const preload = path.join(folder, 'preload.js');
    writeFileSync(
      preload,
      `setTimeout(() => {
        process.emitWarning('this is old', 'DeprecationWarning');
        setTimeout(() => { throw new Error('nobody caught this'); }, 50);
      }, 2_000)`,
    );
    worker = startJsonProcess(MAIN, variables(), ['--require', preload]);
    expect(await worker.exited).toBe(1);
    const lines = worker.lines();
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, err: expect.objectContaining({ message: 'this is old' }) as unknown }),
    );
    expect(lines.at(-1)).toMatchObject({ level: 60, err: { message: 'nobody caught this' } });
  });
});
