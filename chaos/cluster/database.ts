import { execFile, execFileSync } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { postgresUser } from '../../stack/postgres/binaries';
import { withClient } from '../../stack/postgres/databases';
import { startPostgres, type RunningPostgres } from '../../stack/postgres/postgres';
import { startSupervised, type SupervisedProcess } from '../../stack/process/supervised-process';
import { signal } from './cluster-process';
import { ProcessNotStarted, type Database } from './types';

const run = promisify(execFile);

/** Small, because several servers share a machine. */
const SETTINGS = { shared_buffers: '32MB' };

/**
 * Starts a Postgres server that writes durably. Its data and its backups are in `folder`.
 *
 * @throws PostgresUnavailable
 */
export async function startDatabase(options: {
  readonly name: string;
  readonly folder: string;
  readonly log: (line: string) => void;
}): Promise<Database> {
  const { name, folder, log } = options;
  const server = { dataFolder: folder, ephemeral: false, settings: SETTINGS, log };
  let current: RunningPostgres = await startPostgres(server);
  const { url } = current;
  const data = await dataDirectoryOf(url);
  let pid = await current.process.pid;
  let copies = 0;
  let resumer: SupervisedProcess | undefined;
  const runningPid = (): number | null => (current.process.hasExited() ? null : pid);

  async function start(): Promise<void> {
    if (runningPid() !== null) return;
    current = await startPostgres({ ...server, port: Number(new URL(url).port) });
    pid = await current.process.pid;
    if (current.url === url) return;
    await current.stop();
    throw new ProcessNotStarted(`${name}: the port ${new URL(url).port} is in use by another program`);
  }

  /** Suspends all processes of the server, because each connection has its own. */
  function suspend(): void {
    const postmaster = runningPid();
    if (postmaster === null) return;
    signal(postmaster, 'SIGSTOP'); // first, so that it starts no more processes
    const children = childrenOf(postmaster);
    for (const child of children) signal(child, 'SIGSTOP');
    resumer ??= resumeIfParentEnds([...children, postmaster], path.join(folder, 'resume.log'));
  }

  function resume(): void {
    const postmaster = runningPid();
    if (postmaster === null) return;
    for (const each of [...childrenOf(postmaster), postmaster]) signal(each, 'SIGCONT');
    void resumer?.stop();
    resumer = undefined;
  }

  async function kill(): Promise<void> {
    const postmaster = runningPid();
    if (postmaster === null) return;
    signal(postmaster, 'SIGQUIT'); // "immediate shutdown": https://www.postgresql.org/docs/18/server-shutdown.html
    resume(); // a suspended process handles the signal only when it is resumed
    await current.process.exited;
  }

  return {
    name,
    url,
    get running() {
      return runningPid() !== null;
    },
    get pid() {
      return runningPid();
    },
    start,
    kill,
    suspend,
    resume,
    async copy() {
      copies += 1;
      const copy = `copy-${copies}`;
      await backUp(url, data, `${data}-${copy}`);
      return copy;
    },
    async restore(copy) {
      await kill();
      rmSync(data, { recursive: true });
      await run('cp', ['-a', `${data}-${copy}`, data]);
      await start();
    },
  };
}

async function dataDirectoryOf(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory ?? '';
  });
}

/** Returns the processes that a process has started. */
function childrenOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return []; // the process has no children, or has ended
  }
}

/**
 * Starts a shell that resumes the suspended processes of the server when this program ends, because they cannot handle
 * the stop signal while they are suspended. Stopping the shell resumes them, too.
 */
function resumeIfParentEnds(pids: readonly number[], logFile: string): SupervisedProcess {
  const script = 'trap "kill -CONT $*; exit" TERM; while :; do sleep 600 & wait $!; done';
  return startSupervised({
    command: 'sh',
    args: ['-c', script, 'resume', ...pids.map(String)],
    env: { PATH: process.env['PATH'] },
    logFile,
    stopSignal: 'SIGTERM',
    graceMs: 5_000,
  });
}

/**
 * Copies the files of a running server, as described in
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP. A server that is started
 * with the copy recovers to the moment at which the backup ended.
 */
async function backUp(url: string, data: string, copy: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("select pg_backup_start('chaos', true)");
    await copyFiles(data, copy);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    // Copied again, because the write-ahead log must include the end of the backup.
    await copyFiles(`${data}/pg_wal/.`, path.join(copy, 'pg_wal'));
    const label = path.join(copy, 'backup_label');
    writeFileSync(label, rows[0]?.labelfile ?? '', { mode: 0o600 });
    const user = postgresUser();
    if (user) chownSync(label, user.uid, user.gid);
    rmSync(path.join(copy, 'postmaster.pid'), { force: true });
  });
}

/**
 * Copies files and their owners. Ignores files that Postgres deletes during the copy, because the write-ahead log
 * repeats their deletion.
 */
async function copyFiles(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to]).catch((error: Error & { readonly stderr?: string }) => {
    const problems = (error.stderr ?? '').trim().split('\n');
    if (!problems.every((line) => line.includes('No such file or directory'))) throw error;
  });
}
