/**
 * Finds, downloads or builds `temporal-server` and `temporal-sql-tool`. The `temporal` command of the stack contains a
 * server too, but that server runs all four services in one process.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../stack/folders';
import { runGo, withTemporaryFolder } from '../../../stack/temporal/cli-sources';

/** The version of the server in the stack's `temporal` command. The schema belongs to exactly this version. */
const VERSION = '1.29.1';
const SERVER = 'temporal-server';
const SQL_TOOL = 'temporal-sql-tool';
const ANSWER_WITHIN_MS = 10_000;
const DOWNLOAD_WITHIN_MS = 300_000;

export interface TemporalBinaries {
  /** Path of `temporal-server`. */
  readonly server: string;
  /** Path of `temporal-sql-tool`, which creates the schema. */
  readonly sqlTool: string;
}

interface AcquireOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /**
   * The functions that download and build both programs. Each creates the folder `target`, puts the programs into it,
   * and returns its path. Tests replace the functions.
   */
  readonly sources?: { readonly download: Source; readonly build: Source };
}

type Source = (target: string, options: Pick<AcquireOptions, 'env' | 'log'>) => Promise<string>;

/** Thrown when no source has usable programs; the message lists each source and why it failed. */
export class TemporalServerUnavailable extends Error {
  override readonly name = 'TemporalServerUnavailable';
}

/**
 * Returns the paths of the programs. Tries in this order: the PATH, the user's cache, a download of Temporal's release,
 * a build with Go. The last two fill the cache.
 *
 * @throws {@link TemporalServerUnavailable}
 */
export async function acquireTemporalServer({ env, log, sources }: AcquireOptions): Promise<TemporalBinaries> {
  const { download, build } = sources ?? { download: downloadRelease, build: buildWithGo };
  const cached = path.join(cacheFolder(env), `temporal-server-v${VERSION}-${process.platform}-${process.arch}`);
  const onPath = (env['PATH'] ?? '').split(path.delimiter).find((folder) => existsSync(path.join(folder, SERVER)));
  const candidates = [
    { name: 'the PATH', find: async () => onPath ?? Promise.reject(new Error('not found')) },
    { name: `the cache, ${cached}`, find: async () => cached },
    { name: "Temporal's release", find: () => download(cached, { env, log }) },
    { name: 'a build with Go', find: () => build(cached, { env, log }) },
  ];
  const reasons: string[] = [];
  for (const { name, find } of candidates) {
    try {
      return await usable(await find());
    } catch (error) {
      reasons.push(`  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TemporalServerUnavailable(
    [
      `Temporal's server ${VERSION} (the commands ${SERVER} and ${SQL_TOOL}) could not be found, downloaded or built:`,
      ...reasons,
      'Install both commands from https://github.com/temporalio/temporal/releases, or install Go (https://go.dev/dl).',
    ].join('\n'),
  );
}

/**
 * Runs both programs once, to reject files that are incomplete or of another version.
 *
 * @throws Error with the reason
 */
async function usable(folder: string): Promise<TemporalBinaries> {
  const binaries = { server: path.join(folder, SERVER), sqlTool: path.join(folder, SQL_TOOL) };
  for (const program of Object.values(binaries)) {
    if (!existsSync(program)) throw new Error(`${program} not found`);
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 20_000 });
    if (!stdout.includes(`version ${VERSION}`)) {
      throw new Error(`${program} prints "${stdout.trim()}", but version ${VERSION} is required`);
    }
  }
  return binaries;
}

/** Downloads and unpacks the archive of Temporal's release. */
const downloadRelease: Source = async (target, { log }) => {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const archive = `temporal_${VERSION}_${process.platform}_${architecture}.tar.gz`;
  const url = `https://github.com/temporalio/temporal/releases/download/v${VERSION}/${archive}`;
  log(`Downloading Temporal's server ${VERSION} (gives up if there is no answer within 10 seconds).`);
  const unanswered = new AbortController();
  const timer = setTimeout(() => unanswered.abort(new Error('no answer within 10 seconds')), ANSWER_WITHIN_MS);
  try {
    const signal = AbortSignal.any([unanswered.signal, AbortSignal.timeout(DOWNLOAD_WITHIN_MS)]);
    const answer = await fetch(url, { signal });
    clearTimeout(timer);
    if (!answer.ok) throw new Error(`${url} answers with status ${answer.status}`);
    const content = Buffer.from(await answer.arrayBuffer());
    return await withTemporaryFolder(path.dirname(target), async (folder) => {
      const file = path.join(folder, archive);
      writeFileSync(file, content);
      await promisify(execFile)('tar', ['-xzf', file, '-C', folder, SERVER, SQL_TOOL]);
      return moveTo(target, folder, { server: SERVER, sqlTool: SQL_TOOL });
    });
  } catch (error) {
    log(`The download failed: ${error instanceof Error ? error.message : String(error)}.`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/** Builds both programs with Go, which checks the sources against Go's checksum database. */
const buildWithGo: Source = async (target, { env, log }) => {
  log(`Building Temporal's server ${VERSION} with Go (takes about 4 minutes on two cores; only needed once).`);
  return withTemporaryFolder(path.dirname(target), async (folder) => {
    const packages = ['cmd/server', 'cmd/tools/sql'].map((name) => `go.temporal.io/server/${name}@v${VERSION}`);
    await runGo(['install', '-ldflags', '-s -w', ...packages], { folder, env: { ...env, GOBIN: folder }, log });
    return moveTo(target, folder, { server: 'server', sqlTool: 'sql' });
  });
};

function moveTo(target: string, folder: string, names: { server: string; sqlTool: string }): string {
  mkdirSync(target, { recursive: true });
  renameSync(path.join(folder, names.server), path.join(target, SERVER));
  renameSync(path.join(folder, names.sqlTool), path.join(target, SQL_TOOL));
  return target;
}
