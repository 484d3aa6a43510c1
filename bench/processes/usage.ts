/** The CPU time of a process since its start, and its memory. */
export interface Usage {
  /** CPU time of all threads. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The maximum since the process started. */
  readonly peakRssMb: number;
  /** The heap of the main thread; workflows use the heap of another thread. */
  readonly heapMb: number;
}

const MB = 1024 * 1024;

export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    cpuMs: (user + system) / 1_000,
    rssMb: rss / MB,
    peakRssMb: process.resourceUsage().maxRSS / 1_024,
    heapMb: heapUsed / MB,
  };
}
