/**
 * `npm run cluster`: runs the parts of a production setup as processes on this machine, migrates companies, and
 * meanwhile kills each part once, except Prometheus. With `--keep`, it only runs the parts. With `--servers`, it runs
 * only Temporal and Postgres, so that docs/deploying.md can be followed with them.
 */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { counted, outOf } from '../domain/text/sentences';
import { createTemporaryFolder } from '../stack/folders';
import { processesOf, startCluster, startClusterServers, type Cluster, type ClusterProcess } from './cluster';
import { startClusterCodecServer } from './cluster/codec-server';
import { type ClusterPrometheus, startClusterPrometheus } from './cluster/prometheus';
import { TemporalServerUnavailable } from './cluster/temporal/binaries';
import { violationLines } from './results';
import { examine, runTrial } from './trial';

interface Options {
  readonly companies: number;
  readonly keep?: true;
  readonly servers?: true;
}

/** The exit code if Temporal's server is missing on this machine. */
const UNAVAILABLE = 3;
/** How long it takes, roughly, to kill a process, start it again, and see the next move. */
const PER_PART_MS = 10_000;

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main({ companies, keep, servers }: Options): Promise<void> {
  const folder = createTemporaryFolder();
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  if (servers) return runServers(path.join(folder, 'cluster'), interrupted);
  const cluster = await startCluster({ folder: path.join(folder, 'cluster'), log, versioned: true, metrics: true });
  try {
    const codec = await startClusterCodecServer(cluster, path.join(folder, 'cluster', 'logs'));
    let prometheus: ClusterPrometheus | null = null;
    try {
      prometheus = await startClusterPrometheus(cluster.workers, path.join(folder, 'prometheus'));
      printParts(cluster, prometheus ? [codec, prometheus] : [codec], folder);
      print(prometheus ? `Prometheus: ${prometheus.url}` : 'Prometheus: skipped, because it is not installed');
      if (keep) {
        printVariables(cluster, codec.url, folder);
        await interrupted;
        return;
      }
      const parts = [
        ...cluster.workers,
        cluster.service,
        codec,
        ...Object.values(cluster.databases),
        ...Object.values(cluster.temporal),
      ];
      const trial = runTrial(cluster, { companies, parts, perPartMs: PER_PART_MS, folder, log });
      const result = await Promise.race([trial, interrupted]);
      if (result === undefined) {
        trial.catch(() => undefined); // it fails because the cluster is being stopped
        process.exitCode = 130;
        return;
      }
      const { killed, moved, tookMs, check } = result;
      for (const line of violationLines({ check, movedByRetry: [] })) print(line);
      print(
        `${outOf(moved, companies, 'company')} moved in ${Math.round(tookMs / 1_000)} s; ` +
          `${counted(killed, 'part')} killed, ${counted(check.violations.length, 'violation')}`,
      );
      if (prometheus) print(`Alerts that fired: ${(await prometheus.firedAlerts()).join(', ') || 'none'}`);
      print((await examine(cluster, codec.url)).trimEnd());
      if (check.violations.length > 0) process.exitCode = 1;
      else rmSync(folder, { recursive: true, force: true });
    } finally {
      await codec.close();
      await prometheus?.close();
    }
  } finally {
    await cluster.stop();
  }
}

/** Runs Temporal and Postgres, and prints the variables that the guide in docs/deploying.md needs first. */
async function runServers(folder: string, interrupted: Promise<void>): Promise<void> {
  const { databases, temporal, temporalAddress, temporalCommand, stop } = await startClusterServers({ folder, log });
  try {
    print(`Running: ${[...Object.values(temporal), databases.ledger].map(({ name }) => name).join(', ')}`);
    print(`Data and logs: ${folder}`);
    print('For docs/deploying.md, in another shell:');
    print(`export TEMPORAL_ADDRESS=${temporalAddress}`);
    print(`export POSTGRES_URL=${databases.ledger.url}`);
    print(`export PATH="${path.dirname(temporalCommand)}:$PATH"`);
    print('Stop everything with Ctrl-C.');
    await interrupted;
  } finally {
    await stop();
  }
}

function printParts(cluster: Cluster, others: readonly ClusterProcess[], folder: string) {
  const parts = [...processesOf(cluster), ...others];
  print(`Running: ${parts.map(({ name }) => name).join(', ')}`);
  print(`Data and logs: ${path.join(folder, 'cluster')}`);
}

/** Writes a file from which a shell can read the variables that `ferry` needs. */
function printVariables({ variables }: Cluster, codecUrl: string, folder: string): void {
  const file = path.join(folder, 'variables.sh');
  const lines = Object.entries({ ...variables, TEMPORAL_CODEC_ENDPOINT: codecUrl }).map(
    ([name, value]) => `export ${name}='${value ?? ''}'\n`,
  );
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  print(`In another shell: source ${file}`);
  print('Stop everything with Ctrl-C.');
}

function positiveInteger(text: string): number {
  const number = Number(text);
  if (!(Number.isSafeInteger(number) && number > 0)) throw new InvalidArgumentError('Enter a whole number above 0.');
  return number;
}

new Command('npm run cluster --')
  .option('--companies <count>', 'the number of companies to migrate', positiveInteger, 1_000)
  .option('--keep', 'migrate nothing, and run the cluster until Ctrl-C')
  .option('--servers', 'run only Temporal and Postgres until Ctrl-C')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    const isUnavailable = error instanceof TemporalServerUnavailable;
    log(error instanceof Error && !isUnavailable ? (error.stack ?? error.message) : String(error));
    process.exitCode = isUnavailable ? UNAVAILABLE : 1;
  });
