/** The bare script, in a process of its own. */
import type { CompanyRange } from '../companies';
import { startProcess } from './child-process';

export interface ScriptWork {
  readonly url: string;
  readonly key: string;
  readonly companies: CompanyRange;
  readonly atOnce: number;
}

/** What it took to move them. Milliseconds. */
export interface Moved {
  readonly tookMs: number;
  readonly cpuMs: number;
}

export type ScriptCalls = {
  readonly move: (work: ScriptWork) => Promise<Moved>;
  readonly moved: (nothing: null) => Promise<number>;
};

const ASK_EVERY_MS = 5_000;

/** @param report told from time to time how many companies have moved */
export async function runScript(work: ScriptWork, report: (moved: number) => void): Promise<Moved> {
  const script = startProcess<ScriptCalls>('script-process');
  const asking = setInterval(() => void script.ask('moved', null).then(report, () => undefined), ASK_EVERY_MS);
  try {
    return await script.ask('move', work);
  } finally {
    clearInterval(asking);
    await script.end();
  }
}
