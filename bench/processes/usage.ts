import { readdirSync, readFileSync } from 'node:fs';
import type { SupervisedProcess } from '../../stack/process/supervised-process';

/** The CPU time of a process since its start, and its memory. */
export interface Usage {
  /** CPU time of all threads. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The maximum since the process started. */
  readonly peakRssMb: number;
}

const MB = 1024 * 1024;

export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1_000,
    rssMb: process.memoryUsage.rss() / MB,
    peakRssMb: process.resourceUsage().maxRSS / 1_024,
  };
}

/** The unit of the CPU times in `/proc/<pid>/stat`: 100 ticks per second on practically every Linux system. */
const TICKS_PER_SECOND = 100;

/**
 * Returns the CPU time of a program and of all processes that it has started, including those that have ended.
 *
 * @returns milliseconds; undefined if the program has ended or the system has no `/proc`
 */
export async function treeCpuMs({ pid }: Pick<SupervisedProcess, 'pid'>): Promise<number | undefined> {
  const root = await pid;
  const all = new Map(processes().map((each) => [each.pid, each]));
  if (root === null || !all.has(root)) return undefined;
  const isInTree = (each: ProcessTimes | undefined): boolean =>
    each !== undefined && (each.pid === root || isInTree(all.get(each.parent)));
  const ticks = [...all.values()].filter(isInTree).reduce((sum, each) => sum + each.ticks, 0);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** User and system time of the process and of its children that have ended. */
  readonly ticks: number;
}

function processes(): readonly ProcessTimes[] {
  return entriesOf('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of the program, in brackets, can contain spaces, so count the fields after it: see proc_pid_stat(5).
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ')
        .map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
      return [{ pid: Number(name), parent: fields[1] ?? 0, ticks }];
    } catch {
      return []; // The process has just ended.
    }
  });
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
