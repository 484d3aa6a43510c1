import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../stack/temporary-folder';

const ROOT = path.join(__dirname, '../..');
/** The demo makes its own folder in here, and its servers carry that folder in their arguments. */
let folder: string;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
}

/** Runs `npm run demo` as npm would; `meanwhile` sees the output as it grows. */
function demo(meanwhile: (child: ChildProcess, out: string) => void = () => undefined): Promise<Ended> {
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'demo'], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      out += piece.toString();
      meanwhile(child, out);
    });
  }
  return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, out })));
}

function leftBehind(): string[] {
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return [...readdirSync(folder), ...processes.filter((args) => args.includes(folder))];
}

test('the demo moves 25 companies through the six steps, ends with the report, and leaves nothing behind', async () => {
  const { exitCode, out } = await demo();
  expect(out).toContain('As expected: 23 migrated, 1 must reconnect, 1 incomplete.');
  for (const step of [1, 2, 3, 4, 5, 6]) expect(out).toContain(`\nStep ${step}: `);
  expect(out).toMatch(/C-1008 .*\| http\S+ \|/);
  expect(out).toMatch(/C-1014 .*invoices: 120 expected, 97 found/);
  expect(out).toContain('npm run demo -- --keep');
  expect({ exitCode, left: leftBehind() }).toEqual({ exitCode: 0, left: [] });
}, 180_000);

test('two demos at once do not disturb each other; one ended by Ctrl-C leaves nothing behind', async () => {
  const whole = demo();
  let interrupted = false;
  const broken = await demo((child, out) => {
    if (interrupted || !out.includes('Step 4')) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  expect(interrupted).toBe(true);
  expect(broken.exitCode).not.toBe(0);
  expect(await whole).toMatchObject({ exitCode: 0 });
  expect(leftBehind()).toEqual([]);
}, 240_000);
