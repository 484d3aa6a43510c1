/** What a process has used since it began. */
export interface Usage {
  /** On all of its threads. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The most that it ever had. */
  readonly peakRssMb: number;
  /** Of the main thread; workflows live in the heap of another. */
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
