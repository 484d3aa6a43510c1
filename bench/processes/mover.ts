/**
 * Starts a program that moves companies with the requests in job.ts: the script that Tokenferry is compared with, or a
 * program for DBOS or Restate (bench/peers).
 */
import type { CompanyRange } from '../companies';
import { startProcessWith, type ChildProgram } from './child-process';
import type { JobSettings } from './job';

export interface MoverSettings extends Omit<JobSettings, 'connections'> {
  /** The database of a program that stores its state in Postgres. */
  readonly databaseUrl?: string;
  /** The address of a server that calls the program, or that the program calls. */
  readonly serverUrl?: string;
}

export interface MoverWork {
  readonly companies: CompanyRange;
  readonly concurrency: number;
  /**
   * Time from the start of the syncs to the first check of a company, in milliseconds. A company that waits for a
   * check does not count against the concurrency. 0: a company is checked immediately after its import, before another
   * company takes its place. The programs for DBOS and Restate support only 0.
   */
  readonly firstCheckAfterMs: number;
}

/** The wall time and the CPU time of moving companies, in milliseconds. */
export interface MoveTimes {
  readonly tookMs: number;
  readonly cpuMs: number;
}

export type MoverCalls = {
  readonly start: (settings: MoverSettings) => Promise<void>;
  readonly move: (work: MoverWork) => Promise<MoveTimes>;
  readonly moved: () => Promise<number>;
};

export interface Mover {
  /** @param report called every few seconds with the number of moved companies */
  move(work: MoverWork, report: (moved: number) => void): Promise<MoveTimes>;
  stop(): Promise<void>;
}

const POLL_INTERVAL_MS = 5_000;

/** @param program a program in this folder, such as `script-process`, or an absolute path */
export async function startMover(program: string, settings: MoverSettings): Promise<Mover> {
  return startProcessWith(program, async (mover: ChildProgram<MoverCalls>) => {
    await mover.call('start', settings);
    return {
      move: async (work, report) => {
        const poll = () => void mover.call('moved').then(report, () => undefined);
        const polling = setInterval(poll, POLL_INTERVAL_MS);
        try {
          return await mover.call('move', work);
        } finally {
          clearInterval(polling);
        }
      },
      stop: () => mover.end(),
    };
  });
}
