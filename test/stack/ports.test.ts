import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { reservePort } from '../../stack/ports';

const ENDED_PID = 2 ** 22 + 1; // higher than any process id on Linux and macOS

test('reservePort reserves the next free port if the requested port is in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const usedPort = (server.address() as AddressInfo).port;

  const next = await reservePort(usedPort);
  expect(next.port).toBeGreaterThan(usedPort);
  next.release();
  server.close();
});

test('reservePort does not reserve a port again until it is released', async () => {
  const one = await reservePort(0);
  const other = await reservePort(one.port);
  expect(other.port).toBeGreaterThan(one.port);

  one.release();
  const again = await reservePort(one.port);
  expect(again.port).toBe(one.port);
  one.release(); // has no effect, because `again` has reserved the port since
  const third = await reservePort(one.port);
  expect(third.port).toBeGreaterThan(one.port);
  for (const reserved of [again, other, third]) reserved.release();
});

/** Creates a lock like the one that a killed process leaves behind, and returns its path. */
function lockOfEndedProcess(port: number): string {
  const lock = path.join(tmpdir(), `tokenferry-port-${port}.lock`);
  mkdirSync(lock);
  writeFileSync(path.join(lock, String(ENDED_PID)), '');
  return lock;
}

test('reservePort reserves a port again if the process that reserved it was killed', async () => {
  const { port, release } = await reservePort(0);
  release();
  lockOfEndedProcess(port);
  const again = await reservePort(port);
  expect(again.port).toBe(port);
  again.release();
});

test('reservePort leaves the lock to another process that has just taken it over from a killed process', async () => {
  const { port, release } = await reservePort(0);
  release();
  const lock = lockOfEndedProcess(port);
  const ofOther = path.join(lock, String(process.ppid));
  const kill = process.kill.bind(process);
  const spy = jest.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    if (pid === ENDED_PID) {
      rmSync(path.join(lock, String(ENDED_PID)), { force: true });
      writeFileSync(ofOther, '');
    }
    return kill(pid, signal);
  });
  try {
    const next = await reservePort(port);
    expect(next.port).toBeGreaterThan(port);
    next.release();
    expect(readdirSync(lock)).toEqual([String(process.ppid)]);
  } finally {
    spy.mockRestore();
    rmSync(lock, { recursive: true, force: true });
  }
});
