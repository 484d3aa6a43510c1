/**
 * The contenders of the comparisons, which all do the same job: Tokenferry, a plain script, and the peers DBOS and
 * Restate (processes/peers.ts).
 */
import type { BenchEnvironment } from './environment';
import { allocateCompanies } from './companies';
import { moveBatch, PLATFORM, prepareBatch } from './migration';
import { startMover, type Mover } from './processes/mover';
import type { ServiceUnderTest } from './processes/service';
import type { MeasuredWorker } from './processes/worker';

export interface Batch {
  readonly companies: number;
  /** The product of both limits is the number of companies at once. */
  readonly limits: { readonly slicesAtOnce: number; readonly companiesPerSliceAtOnce: number };
  /**
   * Time from the start of the syncs to the first check of a company, in milliseconds: see `MoverWork`. Tokenferry
   * ignores this value, because Tokenferry sets the time of its checks itself.
   */
  readonly firstCheckAfterMs: number;
}

export interface Moved {
  readonly tookMs: number;
  /** CPU time of each working process, in milliseconds. */
  readonly cpuMs: Readonly<Record<string, number>>;
}

export interface Contender {
  readonly name: string;
  /** Prepares a batch, and returns a function that moves it. */
  prepare(batch: Batch): Promise<(report: (moved: number) => void) => Promise<Moved>>;
}

export function tokenferry({ ferry, serversCpuMs }: BenchEnvironment, worker: MeasuredWorker): Contender {
  const cpuMs = async () => ({ worker: (await worker.usage()).cpuMs, ...(await serversCpuMs()) });
  return {
    name: 'tokenferry',
    prepare: async ({ companies, limits }) => {
      const batch = await prepareBatch(ferry, companies, limits);
      return async (report) => {
        const before = await cpuMs();
        const tookMs = await moveBatch(ferry, batch, report);
        return { tookMs, cpuMs: difference(await cpuMs(), before) };
      };
    },
  };
}

export async function startScript(service: ServiceUnderTest): Promise<Contender & Pick<Mover, 'stop'>> {
  const script = await startMover('script-process', jobOf(service));
  return { ...moverContender('script', 'script', script), stop: () => script.stop() };
}

export function jobOf({ url, key }: ServiceUnderTest) {
  return { url, key, platformKey: PLATFORM.key };
}

/**
 * Creates a contender from a mover.
 *
 * @param part the name of the mover's process
 * @param othersCpuMs CPU time of the other processes that work for the mover, by name, in milliseconds since their
 * start
 */
export function moverContender(
  name: string,
  part: string,
  mover: Mover,
  othersCpuMs: () => Promise<Readonly<Record<string, number>>> = async () => ({}),
): Contender {
  return {
    name,
    prepare: async ({ companies, limits: { slicesAtOnce, companiesPerSliceAtOnce }, firstCheckAfterMs }) => {
      const concurrency = slicesAtOnce * companiesPerSliceAtOnce;
      const work = { companies: allocateCompanies(companies), concurrency, firstCheckAfterMs };
      return async (report) => {
        const before = await othersCpuMs();
        const { tookMs, cpuMs } = await mover.move(work, report);
        return { tookMs, cpuMs: { [part]: cpuMs, ...difference(await othersCpuMs(), before) } };
      };
    },
  };
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([part, value]) => [part, value - (before[part] ?? 0)]));
}
