/** Downloads or builds the `temporal` command. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSupervised, tailOf, type SupervisedProcess } from '../process/supervised-process';

/** Limits the wait for the first bytes, because the SDK would wait forever without an internet connection. */
const DOWNLOAD_START_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const BUILD_TIMEOUT_MS = 1_200_000;
const PROGRESS_INTERVAL_MS = 30_000;

/** The version to install, the path to install it to, and the environment and log of the installation. */
export interface CliTarget {
  /** A version of github.com/temporalio/cli, such as `v1.5.1`. */
  version: string;
  /** Path of the command. The file is moved there only when it is complete. */
  executable: string;
  /** The folder with the `go.mod` that pins the version. */
  moduleFolder: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/**
 * Downloads the command from temporal.download with the Temporal SDK, in a separate process: see download.mjs.
 *
 * @throws Error with the reason
 */
export async function downloadWithSdk({ version, executable, env, log }: CliTarget): Promise<string> {
  log(
    `Downloading Temporal's dev server ${version}. This usually takes less than a minute. It fails if no data arrives within ${DOWNLOAD_START_TIMEOUT_MS / 1_000} seconds.`,
  );
  return withTemporaryFolder(path.dirname(executable), async (folder) => {
    const download = startSupervised({
      command: process.execPath,
      args: [path.join(__dirname, 'download.mjs'), folder, version],
      env,
      logFile: path.join(folder, 'download.log'),
      stopSignal: 'SIGKILL',
      graceMs: 0,
      removeFolder: folder,
    });
    const hasStarted = (): boolean => readdirSync(folder).some((name) => name.startsWith('temporal-'));
    const hasAnswered = await waitForEnd(download, DOWNLOAD_START_TIMEOUT_MS, hasStarted);
    const ended = hasAnswered && (await waitForEnd(download, DOWNLOAD_TIMEOUT_MS));
    const reason = ended
      ? tailOf(path.join(folder, 'download.log'), 1) || 'it printed no reason'
      : hasAnswered
        ? `the file was not complete after ${DOWNLOAD_TIMEOUT_MS / 60_000} minutes`
        : `no data arrived within ${DOWNLOAD_START_TIMEOUT_MS / 1_000} seconds`;
    const downloaded = readdirSync(folder).find(
      (name) => name.startsWith('temporal-') && !name.endsWith('.downloading'),
    );
    if (downloaded !== undefined && ended) renameSync(path.join(folder, downloaded), executable);
    await download.stop();
    if (downloaded === undefined || !ended) {
      log(`The download failed: ${reason}.`);
      throw new Error(reason);
    }
    return executable;
  });
}

/**
 * Builds the command from the pinned Go module.
 *
 * @throws Error with the reason
 */
export async function buildWithGo({ version, executable, moduleFolder, env, log }: CliTarget): Promise<string> {
  log(
    `Building Temporal's dev server ${version} with Go. This takes about 3 minutes on two cores, and is needed only once.`,
  );
  return withTemporaryFolder(path.dirname(executable), async (folder) => {
    const built = path.join(folder, path.basename(executable));
    const linkerFlags = `-s -w -X github.com/temporalio/cli/temporalcli.Version=${version.slice(1)}`;
    const args = ['-C', moduleFolder, 'build', '-mod=readonly', '-ldflags', linkerFlags, '-o', built];
    await runGo([...args, 'github.com/temporalio/cli/cmd/temporal'], { folder, env, log });
    renameSync(built, executable);
    return executable;
  });
}

/**
 * Runs `go` and logs its progress.
 *
 * @param folder a temporary folder, which is removed if this process is killed
 * @throws Error with the reason
 */
export async function runGo(
  args: string[],
  { folder, env, log }: { folder: string; env: NodeJS.ProcessEnv; log: (line: string) => void },
): Promise<void> {
  const logFile = path.join(folder, 'build.log');
  const build = startSupervised({
    command: 'go',
    args,
    env,
    logFile,
    stopSignal: 'SIGTERM',
    graceMs: 2_000,
    removeFolder: folder,
  });
  const startedAt = Date.now();
  const report = setInterval(
    () => log(`Still building: ${Math.round((Date.now() - startedAt) / 1_000)} s.`),
    PROGRESS_INTERVAL_MS,
  );
  const ended = await waitForEnd(build, BUILD_TIMEOUT_MS);
  clearInterval(report);
  const logTail = tailOf(logFile, 3);
  const succeeded = ended && (await build.exited) === 0;
  if (!ended) await build.stop();
  if (!ended) throw new Error(`the build did not finish within ${BUILD_TIMEOUT_MS / 60_000} minutes`);
  if (!succeeded)
    throw new Error(
      /spawn go (ENOENT|EACCES)/.test(logTail) ? 'Go is not installed' : logTail || 'it printed no reason',
    );
  log(`Built in ${Math.round((Date.now() - startedAt) / 1_000)} s.`);
}

/**
 * Calls the function `make` with a temporary folder inside `target`, so that the complete file can be moved into
 * `target` atomically.
 */
export async function withTemporaryFolder<T>(target: string, make: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(target, { recursive: true });
  const folder = mkdtempSync(path.join(target, 'unfinished-'));
  try {
    return await make(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the program has ended or `condition` is true. Returns false if neither happens within the timeout. */
async function waitForEnd(
  program: SupervisedProcess,
  timeoutMs: number,
  condition: () => boolean = () => false,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!program.hasExited() && !condition()) {
    if (Date.now() > deadline) return false;
    await Promise.race([program.exited, delay(200)]);
  }
  return true;
}
