import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../folders';
import { failedExecution } from '../process/failed-execution';
import { buildWithGo, downloadWithSdk } from './cli-sources';

/** The Go module that pins the version to download or build. */
const MODULE_FOLDER = path.join(__dirname, 'cli-module');

/** The first version with worker deployments and pinned workflows, which versioned workers need. */
const MIN_SERVER_VERSION = [1, 28] as const;

const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** A source of the `temporal` command. */
export interface CliSource {
  name: string;
  /**
   * Returns the path of the command.
   * @throws Error that says why this source has none
   */
  find(): Promise<string>;
}

/** Thrown when no source has a usable `temporal` command; the message lists each source and why it failed. */
export class TemporalCliUnavailable extends Error {
  override readonly name = 'TemporalCliUnavailable';
}

export interface AcquireOptions {
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** The functions that download and build the command. Tests replace them. */
  sources?: { download: typeof downloadWithSdk; build: typeof buildWithGo };
}

/**
 * Returns the path of Temporal's own command, which contains its dev server. Tries in this order: `TEMPORAL_CLI_PATH`,
 * `temporal` on the PATH, the user's cache, the SDK's download, a build with Go. The last two fill the cache.
 *
 * @throws {@link TemporalCliUnavailable}
 */
export async function acquireTemporalCli({ env, log, sources }: AcquireOptions): Promise<string> {
  const { download, build } = sources ?? { download: downloadWithSdk, build: buildWithGo };
  const version = pinnedVersion();
  const cached = path.join(cacheFolder(env), `temporal-cli-${version}-${process.platform}-${process.arch}`, EXECUTABLE);
  const target = { version, executable: cached, moduleFolder: MODULE_FOLDER, env, log };
  return firstUsable([
    { name: 'TEMPORAL_CLI_PATH', find: () => configured(env, log) },
    { name: '"temporal" on the PATH', find: () => onPath(env) },
    { name: `the cache, ${cached}`, find: () => inCache(cached) },
    { name: "the Temporal SDK's download", find: () => download(target) },
    { name: 'a build with Go', find: () => build(target) },
  ]);
}

async function firstUsable(cliSources: CliSource[]): Promise<string> {
  const reasons: string[] = [];
  for (const [index, source] of cliSources.entries()) {
    try {
      const executable = await source.find();
      await assertUsable(executable);
      return executable;
    } catch (error) {
      reasons.push(`  ${index + 1}. ${source.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TemporalCliUnavailable(
    [
      "Temporal's dev server (the command `temporal`) could not be found, downloaded or built:",
      ...reasons,
      'Install the command (https://docs.temporal.io/cli#install), or install Go (https://go.dev/dl), so that the command can be built.',
    ].join('\n'),
  );
}

/**
 * Returns `TEMPORAL_CLI_PATH`; throws if it is not set or not usable. If it is set but not usable, also logs a warning,
 * because another source is used instead.
 */
async function configured(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> {
  const executable = env['TEMPORAL_CLI_PATH'];
  if (!executable) throw new Error('not set');
  try {
    await assertUsable(executable);
  } catch (error) {
    log(`TEMPORAL_CLI_PATH=${executable} is not used: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  }
  return executable;
}

async function onPath(env: NodeJS.ProcessEnv): Promise<string> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => path.join(folder, EXECUTABLE)).find(isExecutable);
  if (found === undefined) throw new Error('not found');
  return found;
}

async function inCache(executable: string): Promise<string> {
  if (!existsSync(executable)) throw new Error('not found');
  return executable;
}

function pinnedVersion(): string {
  const version = /require github\.com\/temporalio\/cli (v\S+)/.exec(
    readFileSync(path.join(MODULE_FOLDER, 'go.mod'), 'utf8'),
  )?.[1];
  if (version === undefined) throw new Error(`${MODULE_FOLDER}/go.mod does not require github.com/temporalio/cli.`);
  return version;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const VERSION_TIMEOUT_MS = 20_000;

/**
 * Runs the command once, in order to reject a file that is incomplete, outdated or not Temporal's.
 *
 * @throws Error with the reason
 */
async function assertUsable(executable: string): Promise<void> {
  let printed: string;
  try {
    printed = (await promisify(execFile)(executable, ['--version'], { timeout: VERSION_TIMEOUT_MS })).stdout;
  } catch (error) {
    throw new Error(`${executable} --version ${failedExecution(error, VERSION_TIMEOUT_MS)}`, { cause: error });
  }
  const server = /\(server (\d+)\.(\d+)\.\d+/i.exec(printed);
  if (server === null) throw new Error(`${executable} is not Temporal's command: it prints "${printed.trim()}"`);
  const [major, minor] = [Number(server[1]), Number(server[2])];
  const [minMajor, minMinor] = MIN_SERVER_VERSION;
  if (major < minMajor || (major === minMajor && minor < minMinor)) {
    throw new Error(
      `${executable} contains server ${major}.${minor}, but ${minMajor}.${minMinor} or later is required`,
    );
  }
}
