import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTemporalServices } from '../../chaos/cluster/temporal/services';
import { createTemporaryFolder } from '../../stack/folders';

/** Returns the locks of the ports that this process has reserved. */
const ownLocks = (): readonly string[] =>
  readdirSync(tmpdir()).filter(
    (name) => name.startsWith('tokenferry-port-') && readdirSync(path.join(tmpdir(), name)).includes(`${process.pid}`),
  );

test('if Temporal cannot start, because its schema cannot be created, its ports are released', async () => {
  const folder = createTemporaryFolder();
  const binaries = { server: '/nowhere/temporal-server', sqlTool: '/nowhere/temporal-sql-tool' };
  const database = { url: 'postgres://me:secret@127.0.0.1:1/db' };
  const options = { binaries, database, folder: path.join(folder, 'temporal'), logs: folder };
  await expect(startTemporalServices(options)).rejects.toThrow('ENOENT');
  expect(ownLocks()).toEqual([]);
  rmSync(folder, { recursive: true });
});
