/** Tests `ferry up` as a process: kills its parts, and then stops or kills `ferry up` itself. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { readRunningStack } from '../../../config';
import { createTemporaryFolder } from '../../../stack/folders';
import { defaultWorkers } from '../../../stack/workers';
import { TASK_QUEUE } from '../../../workflows/messages';
import { until } from '../../support/async';
import { temporalCli } from '../../support/servers/shared-servers';
import { ferry } from '../captured-terminal';

const FERRY = path.join(__dirname, '../../../bin/ferry.js');
const { TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;

let home: string;
let up: RunningUp;
const workerLog = (number: number): string => path.join(home, 'logs', `worker-${number}.log`);

interface RunningUp {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves with the exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>;
}

async function startUp(workers: number): Promise<RunningUp> {
  const child = spawn(process.execPath, [FERRY, 'up', '--workers', String(workers), '--faults'], {
    env: { ...process.env, TOKENFERRY_HOME: home, TEMPORAL_CLI_PATH: temporalCli() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (data: Buffer) => (texts[name] += data.toString()));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  await until(() => texts.stdout.includes('Tokenferry is running') || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`ferry up has ended: ${texts.stderr}`);
  return { child, out: () => texts.stdout, err: () => texts.stderr, ended };
}

/**
 * Returns the ids of the processes whose arguments contain the home folder and match `args`: the supervisors and their
 * programs, except the portal.
 */
function processes(args: RegExp = /./): readonly number[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^ *(\d+) (.*)$/.exec(line))
    .filter((match) => match?.[2]?.includes(home) && args.test(match[2]))
    .map((match) => Number(match?.[1]));
}

const WORKERS = /\/worker\/main\.js --wait-for \S+$/;

function kill(args: RegExp): void {
  const [pid] = processes(args);
  if (pid === undefined) throw new Error(`no process has the arguments ${args}`);
  process.kill(pid, 'SIGKILL');
}

/**
 * Returns the ids of the processes that run the portal at this URL. Their arguments do not contain the home folder, so
 * {@link processes} does not find them.
 */
function portalProcesses(url: string): readonly number[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.endsWith(`/processes/portal.js --host 127.0.0.1 --port ${new URL(url).port}`))
    .map((line) => Number.parseInt(line, 10));
}

/** Returns the process ids of the workers that Temporal lists as pollers of the task queue. */
async function pollingWorkers(): Promise<readonly number[]> {
  const address = readRunningStack(home)?.temporal.address ?? '';
  const connection = await Connection.connect({ address });
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace: 'default',
      taskQueue: { name: TASK_QUEUE },
      taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
    });
    return pollers.map(({ identity }) => Number(identity?.replace(`@${hostname()}`, '')));
  } finally {
    await connection.close();
  }
}

const restarted = (name: string, log: string): string =>
  `ferry: ${name} has ended (signal SIGKILL) and is being restarted. Its log: ${log}\n`;

describe('ferry up', () => {
  beforeAll(() => {
    home = createTemporaryFolder();
  });
  afterAll(async () => {
    up.child.kill('SIGKILL');
    await until(() => processes().length === 0);
    rmSync(home, { recursive: true, force: true });
  });

  it('runs the requested number of worker processes, each with a log of its own', async () => {
    up = await startUp(2);
    expect(up.out()).toMatch(/^Created the ledger in the database at \S+:\d+\/\w+\.$/m);
    expect(processes(WORKERS)).toHaveLength(2);
    await until(() => readFileSync(workerLog(2), 'utf8').includes('"msg":"Worker state changed"'));
    if (process.platform !== 'linux') return;
    const [pid = 0] = processes(WORKERS);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain('MALLOC_ARENA_MAX=2');
  });

  it('lets an administrator make the service fail with --faults', async () => {
    const service = readRunningStack(home)?.service;
    const authorization = `Basic ${Buffer.from(service?.apiKey ?? '').toString('base64')}`;
    const send = (path: string, init: RequestInit = {}) =>
      fetch(new URL(path, service?.url), { ...init, headers: { authorization, ...init.headers } });
    const body = '{"faults":[{"kind":"unavailable"}]}';
    const headers = { 'content-type': 'application/json' };
    expect((await send('/sandbox/faults', { method: 'PUT', headers, body })).status).toBe(200);
    expect((await send('/companies')).status).toBe(503);
    await send('/sandbox/faults', { method: 'DELETE' });
    expect((await send('/companies')).status).toBe(200);
  });

  it('reports a worker that was killed, and replaces it', async () => {
    kill(WORKERS);
    await until(() => up.err().includes('has ended'));
    expect([1, 2].some((number) => up.err().startsWith(restarted(`Worker ${number}`, workerLog(number))))).toBe(true);
    await until(async () => {
      const polling = await pollingWorkers();
      const running = processes(WORKERS);
      return running.length === 2 && running.every((pid) => polling.includes(pid));
    });
  });

  it.each([
    ['Temporal', / server start-dev /, 'temporal.log'],
    ['Postgres', /^\S*\/bin\/postgres -D/, 'postgres.log'],
  ])('reports that %s was killed, and restarts it', async (name, args, log) => {
    kill(args);
    await until(() => up.err().includes(restarted(name, path.join(home, log))));
    await until(async () => {
      const { exitCode, out } = await ferry(['doctor', '--json'], undefined, { TOKENFERRY_HOME: home });
      const { checks } = JSON.parse(out) as { checks: { check: string; verdict: string }[] };
      return exitCode === 0 && checks.filter(({ verdict }) => verdict === 'ok').length > 5;
    });
    expect(up.child.exitCode).toBeNull();
  });

  it('refuses to start a second time, and says what to do', async () => {
    const { exitCode, err } = await ferry(['up'], undefined, { TOKENFERRY_HOME: home });
    expect(exitCode).toBe(1);
    expect(err).toContain(`a stack is already running: process ${up.child.pid} (see `);
    expect(err).toContain('; use that stack, or press Ctrl-C in its terminal and run ferry up again\n');
  });

  it('runs the portal with only the database role of the portal, and restarts it', async () => {
    const { portalUrl = '', portalDatabaseUrl = '' } = readRunningStack(home) ?? {};
    expect(up.out()).toMatch(new RegExp(`Portal for clients +${portalUrl}\\n`));
    for (const part of ['Postgres and Temporal', 'the Company Data Service', 'the workers', 'the portal'])
      expect(up.out()).toContain(`Starting ${part}...\n`);
    const isWorking = async (): Promise<boolean> =>
      (await fetch(`${portalUrl}/health`).catch(() => undefined))?.status === 200;
    await until(isWorking);
    const [pid = 0] = portalProcesses(portalUrl);
    if (process.platform === 'linux') {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      expect(environment).toContain(`PORTAL_DATABASE_URL=${portalDatabaseUrl}`);
      expect(environment.join('\n')).not.toMatch(/_KEY|_SECRET|^DATABASE_URL/m);
    }
    process.kill(pid, 'SIGKILL');
    await until(() => up.err().includes(restarted('The portal', path.join(home, 'logs', 'portal.log'))));
    await until(isWorking);
    expect(portalProcesses(portalUrl)).not.toEqual([pid]);
  });

  it('stops everything at Ctrl-C, the workers first', async () => {
    up.child.kill('SIGINT');
    expect(await up.ended).toBe(0);
    expect(up.out()).toMatch(/\nStopping\.\.\.\nStopped\.\n$/);
    expect(processes()).toEqual([]);
    const [workerStopped = ''] = readFileSync(workerLog(1), 'utf8').trimEnd().split('\n').slice(-1);
    expect(workerStopped).toContain('the worker has stopped');
    const { time } = JSON.parse(workerStopped) as { time: number };
    const postgresLog = readFileSync(path.join(home, 'postgres.log'), 'utf8');
    const [, shutdown = ''] = /^(\S+ \S+) UTC .*received fast shutdown request/m.exec(postgresLog) ?? [];
    expect(time).toBeLessThan(Date.parse(`${shutdown}Z`));
  });

  it('stops everything and exits with 1 if a worker cannot be restarted', async () => {
    up = await startUp(1);
    expect(up.out()).not.toContain('Created the ledger');
    renameSync(path.join(home, 'payload.key'), path.join(home, 'payload.key.away'));
    kill(WORKERS);
    expect(await up.ended).toBe(1);
    renameSync(path.join(home, 'payload.key.away'), path.join(home, 'payload.key'));
    const [last = ''] = up.err().trimEnd().split('\n').slice(-1);
    expect(last).toContain('ferry: Worker 1 has ended (exit code 1) and is not restarted. Its log, ');
    expect(last).toMatch(/ends with: .*payload key cannot be read/);
    expect(up.out()).toMatch(/\nStopped\.\n$/);
    expect(processes()).toEqual([]);
  });

  it('leaves no process behind if it is killed', async () => {
    up = await startUp(1);
    const { portalUrl = '' } = readRunningStack(home) ?? {};
    expect(processes().length).toBeGreaterThan(5);
    expect(portalProcesses(portalUrl)).toHaveLength(1);
    up.child.kill('SIGKILL');
    await until(() => processes().length + portalProcesses(portalUrl).length === 0);
  });
});

test('defaultWorkers returns one worker for each core beyond two, at least 1 and at most 4', () => {
  expect([1, 2, 3, 4, 6, 64].map(defaultWorkers)).toEqual([1, 1, 1, 2, 4, 4]);
});
