import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSupervised, tailOf, type SupervisedProcess } from '../process/supervised-process';

/** Without the internet the SDK's question for the right archive is never answered. */
const DOWNLOAD_STARTS_WITHIN_MS = 10_000;
const DOWNLOAD_ENDS_WITHIN_MS = 300_000;
const BUILD_ENDS_WITHIN_MS = 1_200_000;
const REPORT_EVERY_MS = 30_000;

/** What to make, and where it belongs. */
export interface Making {
  /** Of github.com/temporalio/cli, such as `v1.5.1`. */
  version: string;
  /** The file to make. It appears at once and whole, or not at all. */
  executable: string;
  /** The folder with the `go.mod` that pins the version. */
  moduleFolder: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/**
 * Lets the Temporal SDK download the command, from temporal.download. It offers that only together with a start of
 * the server, hence a process of its own: see temporal-download.mjs.
 *
 * @throws Error whose message says why it failed
 */
export async function downloadWithSdk({ version, executable, env, log }: Making): Promise<string> {
  log(`Downloading Temporal's dev server ${version}: under a minute; given up after 10 seconds without an answer.`);
  return makeIn(path.dirname(executable), async (folder) => {
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
    const answered = await ends(download, DOWNLOAD_STARTS_WITHIN_MS, hasStarted);
    const ended = answered && (await ends(download, DOWNLOAD_ENDS_WITHIN_MS));
    const reason = ended ? tailOf(path.join(folder, 'download.log'), 1) : 'no answer in time';
    const made = readdirSync(folder).find((name) => name.startsWith('temporal-') && !name.endsWith('.downloading'));
    if (made !== undefined && ended) renameSync(path.join(folder, made), executable);
    await download.stop();
    if (made === undefined || !ended) {
      log(`It could not be downloaded: ${reason}.`);
      throw new Error(reason);
    }
    return executable;
  });
}

/**
 * Builds the command from the pinned Go module.
 *
 * @throws Error whose message says why it failed
 */
export async function buildWithGo({ version, executable, moduleFolder, env, log }: Making): Promise<string> {
  log(`Building Temporal's dev server ${version} with Go: about 3 minutes on two cores, once on this machine.`);
  return makeIn(path.dirname(executable), async (folder) => {
    const logFile = path.join(folder, 'build.log');
    const made = path.join(folder, path.basename(executable));
    const linkerFlags = `-s -w -X github.com/temporalio/cli/temporalcli.Version=${version.slice(1)}`;
    const build = startSupervised({
      command: 'go',
      args: [
        '-C',
        moduleFolder,
        'build',
        '-mod=readonly',
        '-ldflags',
        linkerFlags,
        '-o',
        made,
        'github.com/temporalio/cli/cmd/temporal',
      ],
      env,
      logFile,
      stopSignal: 'SIGTERM',
      graceMs: 2_000,
      removeFolder: folder,
    });
    const startedAt = Date.now();
    const report = setInterval(
      () => log(`Still building: ${Math.round((Date.now() - startedAt) / 1_000)} s.`),
      REPORT_EVERY_MS,
    );
    const ended = await ends(build, BUILD_ENDS_WITHIN_MS);
    clearInterval(report);
    const lastWords = tailOf(logFile, 3);
    const succeeded = ended && (await build.exited) === 0;
    if (succeeded) renameSync(made, executable);
    await build.stop();
    if (!ended) throw new Error(`not finished after ${BUILD_ENDS_WITHIN_MS / 60_000} minutes`);
    if (!succeeded) throw new Error(/spawn go (ENOENT|EACCES)/.test(lastWords) ? 'Go is not installed' : lastWords);
    log(`Built in ${Math.round((Date.now() - startedAt) / 1_000)} s.`);
    return executable;
  });
}

/** A folder beside the goal, so that the finished file can be moved there in one step, however many make it at once. */
async function makeIn(goal: string, make: (folder: string) => Promise<string>): Promise<string> {
  mkdirSync(goal, { recursive: true });
  const folder = mkdtempSync(path.join(goal, 'unfinished-'));
  try {
    return await make(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the program has ended or, where given, `or` has come true; `false` when neither happened in time. */
async function ends(program: SupervisedProcess, withinMs: number, or: () => boolean = () => false): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (!program.hasExited() && !or()) {
    if (Date.now() > deadline) return false;
    await Promise.race([program.exited, delay(200)]);
  }
  return true;
}
