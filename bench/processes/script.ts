/** Starts the script in its own process. */
import type { CompanyRange } from '../companies';
import { startProcess } from './child-process';

export interface ScriptWork {
  readonly url: string;
  readonly key: string;
  readonly companies: CompanyRange;
  readonly atOnce: number;
}

/** Wall time and CPU time of a move, in milliseconds. */
export interface Moved {
  readonly tookMs: number;
  readonly cpuMs: number;
}

export type ScriptCalls = {
  readonly move: (work: ScriptWork) => Promise<Moved>;
  readonly moved: (nothing: null) => Promise<number>;
};

const ASK_INTERVAL_MS = 5_000;

/** @param report is called every few seconds with the number of companies moved */
export async function runScript(work: ScriptWork, report: (moved: number) => void): Promise<Moved> {
  const script = startProcess<ScriptCalls>('script-process');
  const asking = setInterval(() => void script.ask('moved', null).then(report, () => undefined), ASK_INTERVAL_MS);
  try {
    return await script.ask('move', work);
  } finally {
    clearInterval(asking);
    await script.end();
  }
}
