import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../stack/folders';

const ROOT = path.join(__dirname, '../..');
const REPORT = path.join(ROOT, 'demo-handover.html');
/**
 * A temporary folder. The demo creates its own folder in this folder, and the arguments of the demo's servers contain
 * that path.
 */
let folder: string;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface DemoResult {
  readonly exitCode: number | null;
  readonly out: string;
}

/** Runs `npm run demo` as npm would. Calls `onOutput` with the whole output each time it grows. */
function runDemo(onOutput: (child: ChildProcess, out: string) => void = () => undefined): Promise<DemoResult> {
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'demo'], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      out += piece.toString();
      onOutput(child, out);
    });
  }
  return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, out })));
}

/** Returns the files and processes that the demo did not remove. */
function leftovers(): string[] {
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return [...readdirSync(folder), ...processes.filter((args) => args.includes(folder))];
}

test('the demo moves 25 companies through the six steps, writes the report and removes everything else', async () => {
  rmSync(REPORT, { force: true });
  const { exitCode, out } = await runDemo();
  for (const step of [1, 2, 3, 4, 5, 6]) expect(out).toContain(`\nStep ${step}: `);
  const lines = out.split('\n').filter((line) => !line.startsWith('npm warn'));
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  const summary = lines.slice(lines.findIndex((line) => line.startsWith('Summary: ')));
  expect(summary.length).toBeLessThanOrEqual(24);
  expect(summary.join('\n')).toContain('23 of 25 companies moved');
  expect(summary.join('\n')).toMatch(
    /1 must reconnect: C-1008 .*\n.*1 not moved: C-1014 .*invoices: 120 expected, 97 found/,
  );
  expect(summary.join('\n')).toContain(`Handover report, for a browser: ${REPORT}`);
  const report = readFileSync(REPORT, 'utf8');
  for (const text of ['<!doctype html>', 'C-1008', '/link/connection/']) expect(report).toContain(text);
  expect(statSync(REPORT).mode & 0o077).toBe(0);
  expect(out).toContain('npm run demo -- --keep');
  expect({ exitCode, left: leftovers() }).toEqual({ exitCode: 0, left: [] });
}, 180_000);

test('an interrupted demo removes everything and does not affect another demo', async () => {
  const complete = runDemo();
  let interrupted = false;
  const stopped = await runDemo((child, out) => {
    if (interrupted || !out.includes('Step 4')) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  expect(interrupted).toBe(true);
  expect(stopped.exitCode).not.toBe(0);
  expect(await complete).toMatchObject({ exitCode: 0 });
  expect(leftovers()).toEqual([]);
}, 240_000);
