/** Tests `ferry` as a process whose output has no reader any more, as in `ferry approve ... | head -1`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { SUPPORT, startTestMigration } from '../../workflows/running-migration';
import { runJson } from '../command-line';

const FERRY = path.join(__dirname, '../../../bin/ferry.js');
const orchestrator = useOrchestratorWithWorker();

/** Runs a command, closes these streams at once, and returns its exit code. */
async function closingOutput(
  streams: readonly ('stdout' | 'stderr')[],
  ...args: string[]
): Promise<{ readonly exitCode: number | null; readonly err: string }> {
  const child = spawn(process.execPath, [FERRY, ...args], {
    env: { PATH: process.env['PATH'], SUDO_USER: 'tester', ...orchestrator.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (bytes: Buffer) => (err += String(bytes)));
  for (const name of streams) child[name].destroy();
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, err };
}

test('a command that decides sends its decision, although the reader has closed the pipe', async () => {
  const piped = await startTestMigration(orchestrator, 'piped', ['sbx-ok-1.p1']);
  await piped.until(({ preflight }) => preflight !== null);
  const approve = ['approve', piped.id, 'supply-details', '--yes', '--by', 'Sam'];
  expect(await closingOutput(['stdout', 'stderr'], ...approve)).toEqual({ exitCode: 0, err: '' });
  const { json } = await runJson(orchestrator, 'audit', piped.id);
  expect(json['trail']).toMatchObject([{ applied: true, decision: { kind: 'step', by: 'Sam' } }]);
  // The step is already approved, so a second approval has no effect and fails.
  const { exitCode, err } = await closingOutput(['stdout'], ...approve);
  expect({ exitCode, err: err.includes('EPIPE') }).toEqual({ exitCode: 1, err: false });
});

test('a command that watches or streams rows ends when the reader has closed the pipe', async () => {
  const watched = await startTestMigration(orchestrator, 'watched', ['sbx-ok-1.w1', 'sbx-ok-1.w2']);
  await watched.until(({ preflight }) => preflight !== null);
  for (const args of [['watch'], ['companies'], ['audit'], ['companies', '--csv'], ['companies', '--json']]) {
    const [name = '', ...options] = args;
    expect(await closingOutput(['stdout'], name, watched.id, ...options)).toEqual({ exitCode: 0, err: '' });
  }
  await watched.send('cancel', { reason: 'enough', ...SUPPORT });
});
