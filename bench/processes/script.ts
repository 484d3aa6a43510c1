/** Runs the script that a batch is compared with, in its own process. */
import type { CompanyRange } from '../companies';
import { startProcess } from './child-process';

export interface ScriptWork {
  readonly url: string;
  readonly key: string;
  readonly companies: CompanyRange;
  readonly concurrency: number;
}

/** The wall time and the CPU time of moving companies, in milliseconds. */
export interface MoveTimes {
  readonly tookMs: number;
  readonly cpuMs: number;
}

export type ScriptCalls = {
  readonly move: (work: ScriptWork) => Promise<MoveTimes>;
  readonly moved: (nothing: null) => Promise<number>;
};

const POLL_INTERVAL_MS = 5_000;

/** @param report called every few seconds with the number of moved companies */
export async function runScript(work: ScriptWork, report: (moved: number) => void): Promise<MoveTimes> {
  const script = startProcess<ScriptCalls>('script-process');
  const polling = setInterval(() => void script.call('moved', null).then(report, () => undefined), POLL_INTERVAL_MS);
  try {
    return await script.call('move', work);
  } finally {
    clearInterval(polling);
    await script.end();
  }
}
