import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../cache-folder';
import { buildWithGo, downloadWithSdk } from './cli-sources';

/** The folder of the Go module that pins what is built. */
const MODULE_FOLDER = path.join(__dirname, 'cli-module');

/** Pinned workflows and worker deployments, which batch runs rely on, are in the server from this version on. */
const OLDEST_USABLE_SERVER = [1, 28] as const;

const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** One of the ways to come by the `temporal` command. */
export interface Way {
  name: string;
  /**
   * The path of a command that works.
   * @throws Error whose message says why this way leads nowhere
   */
  find(): Promise<string>;
}

/** No way led to a `temporal` command that works; the message names each one and why it failed. */
export class TemporalCliUnavailable extends Error {
  override readonly name = 'TemporalCliUnavailable';
}

export interface AcquireOptions {
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** What makes the command where it is missing, slowest last; tests give their own. */
  sources?: { download: typeof downloadWithSdk; build: typeof buildWithGo };
}

/**
 * The path of Temporal's own command, which holds its dev server. The first way that works is taken:
 * `TEMPORAL_CLI_PATH`, `temporal` on the PATH, the user's cache, the SDK's download, a build with Go. The last two
 * fill the cache, so that they happen once on a machine.
 *
 * @throws {@link TemporalCliUnavailable}
 */
export async function acquireTemporalCli({ env, log, sources }: AcquireOptions): Promise<string> {
  const { download, build } = sources ?? { download: downloadWithSdk, build: buildWithGo };
  const version = pinnedVersion();
  const cached = path.join(cacheFolder(env), `temporal-cli-${version}-${process.platform}-${process.arch}`, EXECUTABLE);
  const make = { version, executable: cached, moduleFolder: MODULE_FOLDER, env, log };
  return firstThatWorks([
    { name: 'TEMPORAL_CLI_PATH', find: () => named(env, log) },
    { name: '"temporal" on the PATH', find: () => onPath(env) },
    { name: `the cache, ${cached}`, find: () => inCache(cached) },
    { name: "the Temporal SDK's download", find: () => download(make) },
    { name: 'a build with Go', find: () => build(make) },
  ]);
}

async function firstThatWorks(ways: Way[]): Promise<string> {
  const reasons: string[] = [];
  for (const [index, way] of ways.entries()) {
    try {
      const executable = await way.find();
      await assertUsable(executable);
      return executable;
    } catch (error) {
      reasons.push(`  ${index + 1}. ${way.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TemporalCliUnavailable(
    [
      "Temporal's dev server (the command `temporal`) could not be found, downloaded or built:",
      ...reasons,
      'Any one of them will do: https://docs.temporal.io/cli#install, or https://go.dev/dl for the last.',
    ].join('\n'),
  );
}

/** Somebody who names a command wants that one: it is said when another is used instead. */
async function named(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> {
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
  if (found === undefined) throw new Error('not there');
  return found;
}

async function inCache(executable: string): Promise<string> {
  if (!existsSync(executable)) throw new Error('not there yet');
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

/**
 * Runs the command once: a half-written, foreign or outdated file must not be taken for a server.
 *
 * @throws Error whose message says what is wrong with it
 */
async function assertUsable(executable: string): Promise<void> {
  let printed: string;
  try {
    printed = (await promisify(execFile)(executable, ['--version'], { timeout: 20_000 })).stdout;
  } catch (error) {
    throw new Error(`${executable} --version fails: ${error instanceof Error ? error.message.trim() : String(error)}`, {
      cause: error,
    });
  }
  const server = /\(Server (\d+)\.(\d+)\.\d+/.exec(printed);
  if (server === null) throw new Error(`${executable} is not Temporal's command: it prints "${printed.trim()}"`);
  const [major, minor] = [Number(server[1]), Number(server[2])];
  const [oldestMajor, oldestMinor] = OLDEST_USABLE_SERVER;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new Error(`${executable} holds server ${major}.${minor}; at least ${oldestMajor}.${oldestMinor} is needed`);
  }
}
