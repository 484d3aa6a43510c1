/** Tests the lock of `npm test` and `npm run demo` with processes that are killed and processes that race. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = `
  import fs, { appendFileSync, existsSync } from 'node:fs';
  import { spawn } from 'node:child_process';
  import { syncBuiltinESMExports } from 'node:module';
  const note = (line) => appendFileSync('events', line + '\\n');
  const noted = (line) => existsSync('events') && fs.readFileSync('events', 'utf8').split('\\n').includes(line);
  const locked = async (work) => {
    const { oneAtATime } = await import(${JSON.stringify(pathToFileURL(path.resolve(__dirname, '../../scripts/lock-file.mjs')).href)});
    await oneAtATime('lock', () => note('waiting'), work);
  };
  const dies = () => process.kill(process.pid, 'SIGKILL');
`;

/** Runs a program in the folder, and returns the signal that ended it; null if it ended by itself. */
async function run(program: string): Promise<string | null> {
  const args = ['--input-type=module', '--eval', HEAD + program];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal;
}

const events = (): readonly string[] =>
  existsSync(path.join(folder, 'events')) ? readFileSync(path.join(folder, 'events'), 'utf8').trim().split('\n') : [];

test('a process that is killed at any moment of taking or holding the lock holds up no other process', async () => {
  let signal: string | null = 'SIGKILL';
  let writes = 0;
  for (; signal !== null && writes < 20; writes += 1) {
    signal = await run(`
      let left = ${writes};
      for (const name of ['openSync', 'writeSync', 'closeSync', 'writeFileSync', 'mkdtempSync', 'renameSync', 'rmSync', 'rmdirSync']) {
        const original = fs[name];
        fs[name] = (...args) => {
          if (left === 0) dies();
          left -= 1;
          return original(...args);
        };
      }
      syncBuiltinESMExports();
      await locked(() => undefined);
    `);
    // If the lock is never free, this process gives up after 3 s.
    await run(`setTimeout(() => process.exit(), 3_000).unref(); await locked(() => note('ran'));`);
    expect(events().filter((event) => event === 'ran')).toHaveLength(writes + 1);
  }
  expect({ signal, isKilledBefore: writes > 3 }).toEqual({ signal: null, isKilledBefore: true });
});

test('a lock that a killed process with the same id has left is taken over', async () => {
  await run(`
    fs.mkdirSync('lock');
    fs.writeFileSync('lock/' + process.pid, '');
    setTimeout(() => process.exit(), 3_000).unref();
    await locked(() => note('ran'));`);
  expect(events()).toEqual(['ran']);
});

test('a lock that another process has just taken over from a killed process is left to that other process', async () => {
  await run('await locked(dies);');
  const other = `${HEAD}
    await locked(async () => {
      note('other begins');
      while (!noted('asked about other') && !noted('begins')) await new Promise((resolve) => setTimeout(resolve, 20));
      note('other ends');
    });`;
  await run(`
    const kill = process.kill.bind(process);
    let other;
    process.kill = (pid, signal) => {
      if (other === undefined) {
        other = spawn(process.execPath, ['--input-type=module', '--eval', ${JSON.stringify(other)}], { stdio: 'ignore' });
        while (!noted('other begins')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      } else if (pid === other.pid) note('asked about other');
      return kill(pid, signal);
    };
    await locked(() => note('begins'));
  `);
  expect(events().filter((event) => !['waiting', 'asked about other'].includes(event))).toEqual([
    ...['other begins', 'other ends', 'begins'],
  ]);
});
