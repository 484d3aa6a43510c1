/**
 * `npm run images:test`: builds the images of the Dockerfile, starts docker-compose.yml with Docker or Podman, migrates
 * companies, and meanwhile kills containers, which must be started again by their restart policies. Images that cannot
 * be pulled are substituted. At the end, keeps the pulled images, the substitutes and the build cache, which make the
 * next run faster, and, if the test has failed, the folder with the evidence. Removes everything else.
 */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { counted, outOf } from '../domain/text/sentences';
import { createTemporaryFolder } from '../stack/folders';
import {
  acquireOtherImages,
  baseImages,
  buildImages,
  releaseSubstitutes,
  removeImages,
  type OtherImages,
} from './images/build';
import { ourServers, readServices, servicesWithout } from './images/compose-file';
import { findEngine, NoContainerEngine } from './images/engine';
import { assertIsolated, awaitTargets } from './images/inspection';
import { withTopology, type Topology } from './images/topology';
import { violationLines } from './results';
import { runTrial } from './trial';

interface Options {
  readonly companies: number;
  readonly engine?: string;
}

/** The exit code if this machine has no container engine. */
const UNAVAILABLE = 3;
/** One container of each of these services is killed. */
const KILLED = ['worker', 'service', 'temporal', 'ledger'] as const;
/** About how long a killed container takes to become healthy again. */
const PER_PART_MS = 20_000;

/** The services that the test does not need. */
const OPTIONAL = new Set(['ui', 'ui-for-clients', 'prometheus', 'grafana']);

const startedAtMs = Date.now();
const print = (line: string): void => {
  const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
  process.stdout.write(`${String(seconds).padStart(4)} s  ${line}`.trimEnd() + '\n');
};

async function main({ companies, engine: wanted }: Options): Promise<void> {
  const engine = await findEngine(wanted);
  const folder = createTemporaryFolder();
  print(`Using ${await engine.run(['--version'])}`);
  const others = await acquireOtherImages(engine, { folder, log: print });
  try {
    const leftOut = reportOtherImages(others);
    print('Building the images of the Dockerfile.');
    await buildImages(engine, print);
    const interrupted = interruption();
    await withTopology(engine, { folder, leftOut, log: print, interrupted }, (topology) =>
      tryOut(topology, { companies, leftOut, folder }),
    );
  } finally {
    await releaseSubstitutes(engine, others);
    await removeImages(engine);
  }
  if (process.exitCode === undefined) rmSync(folder, { recursive: true, force: true });
  else print(`The evidence is in ${folder}`);
}

/** Returns a promise that is rejected on SIGINT or SIGTERM, so that everything is removed before this process ends. */
function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new Error(`Interrupted by ${signal}.`)));
    }
  });
  interrupted.catch(() => undefined); // it can be rejected before anything waits for it
  return interrupted;
}

/**
 * Prints which images were substituted or are missing. Returns the services that are left out: those whose image is
 * missing, and those that depend on them.
 *
 * @throws if a base image or the image of a required service is missing
 */
function reportOtherImages({ substituted, missing }: OtherImages): readonly string[] {
  for (const [image, madeFrom] of substituted) print(`substituted ${image}: made from ${madeFrom}`);
  for (const [image, reason] of missing) print(`missing ${image}: ${reason}`);
  const leftOut = servicesWithout(new Set(missing.keys()), readServices());
  const required = [
    ...baseImages().filter((image) => missing.has(image)),
    ...leftOut.filter((name) => !OPTIONAL.has(name)),
  ];
  if (required.length > 0)
    throw new Error(
      `The test cannot run without ${required.join(', ')}. Make the missing images above available, and run it again.`,
    );
  if (leftOut.length > 0) print(`left out: ${leftOut.join(', ')}`);
  return leftOut;
}

/** Migrates companies with the running topology, and sets the exit code if the result is wrong. */
async function tryOut(
  topology: Topology,
  { companies, leftOut, folder }: { companies: number; leftOut: readonly string[]; folder: string },
): Promise<void> {
  const containersOf = async (services: readonly string[]) =>
    (await Promise.all(services.map((service) => topology.containers(service)))).flat();
  print('running: all containers are healthy');
  const isolated = await containersOf(ourServers(readServices()));
  await assertIsolated(isolated);
  print(`${counted(isolated.length, 'container')} running as an unprivileged user, on a read-only file system`);
  printIndented(await topology.ferry('doctor'));
  // Workers send their requests directly, so the log of requests is empty, and invariants about sends are not checked.
  const requestLog = path.join(folder, 'requests.jsonl');
  writeFileSync(requestLog, '');
  const parts = (await Promise.all(KILLED.map((service) => topology.containers(service)))).flatMap(
    ([first]) => first ?? [],
  );
  const { variables, databases } = topology;
  const trial = await runTrial(
    { variables, databases, requestLog },
    { companies, parts, perPartMs: PER_PART_MS, folder, log: print },
  );
  for (const line of violationLines({ check: trial.check, movedByRetry: [] })) print(line);
  print(
    `${outOf(trial.moved, companies, 'company')} moved in ${Math.round(trial.tookMs / 1_000)} s; ` +
      `${counted(trial.killed, 'container')} killed, ${counted(trial.check.violations.length, 'violation')}`,
  );
  printIndented(await topology.ferry('list'));
  if (!leftOut.includes('prometheus'))
    print(`Prometheus reads ${counted(await awaitTargets(topology.prometheusUrl), 'target')}`);
  if (trial.moved !== companies || trial.check.violations.length > 0) process.exitCode = 1;
}

function printIndented(output: string): void {
  for (const line of output.split('\n')) print(`  ${line}`);
}

function positiveInteger(text: string): number {
  const number = Number(text);
  if (!(Number.isSafeInteger(number) && number > 0)) throw new InvalidArgumentError('Enter a whole number above 0.');
  return number;
}

new Command('npm run images:test --')
  .option('--companies <count>', 'the number of companies to migrate', positiveInteger, 200)
  .option('--engine <name>', 'docker or podman (default: the first that works)')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    const isUnavailable = error instanceof NoContainerEngine;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = isUnavailable ? UNAVAILABLE : 1;
  });
