import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { acquireTemporalServer } from '../../chaos/cluster/temporal/binaries';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'chaos-binaries-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Creates stubs of both programs, which print this version, and returns their folder. */
async function create(target: string, version = '1.29.1'): Promise<string> {
  mkdirSync(target, { recursive: true });
  for (const name of ['temporal-server', 'temporal-sql-tool']) {
    writeFileSync(path.join(target, name), `#!/bin/sh\necho "${name} version ${version}"\n`);
    chmodSync(path.join(target, name), 0o755);
  }
  return target;
}

const fails = (reason: string) => () => Promise.reject(new Error(reason));

function acquire(download: (target: string) => Promise<string>, build: (target: string) => Promise<string>) {
  const env = { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: path.join(folder, 'cache') };
  return acquireTemporalServer({ env, log: () => undefined, sources: { download, build } });
}

test("takes Temporal's server from the PATH, or else from the cache", async () => {
  const { server } = await acquire(fails('no answer'), (target) => create(target));
  expect(server).toContain(path.join('cache', 'tokenferry'));
  expect(await acquire(fails('not cached'), fails('not cached'))).toMatchObject({ server });
  await create(path.join(folder, 'bin'));
  expect(await acquire(fails('unused'), fails('unused'))).toEqual({
    server: path.join(folder, 'bin', 'temporal-server'),
    sqlTool: path.join(folder, 'bin', 'temporal-sql-tool'),
  });
});

test('skips a server of another version, because the schema fits only one version', async () => {
  await create(path.join(folder, 'bin'), '1.28.0');
  expect((await acquire((target) => create(target), fails('unused'))).server).toContain('cache');
});

test('names each source and why it failed if none works', async () => {
  await expect(acquire(fails('no answer'), fails('Go is not installed'))).rejects.toThrow(
    /the PATH: not found\n.*the cache, .*not found\n.*release: no answer\n.*with Go: Go is not installed\nInstall/,
  );
});
