/** Reads the memory, the open files, the TCP connections and the CPU time of a process. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessUsage {
  /** Resident memory. */
  readonly memoryMb: number;
  /** Open file descriptors. Null on systems without `/proc`. */
  readonly files: number | null;
  /** TCP connections. Null on systems without `/proc`. */
  readonly connections: number | null;
  /** CPU time since the start of the process. Null on systems without `/proc`. */
  readonly cpuMs: number | null;
}

const MB = 1_024 * 1_024;
/** The state "listen" in `/proc/net/tcp`: https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
const LISTENING = '0A';

/** @returns null if the process has ended */
export function processUsage(pid: number): ProcessUsage | null {
  try {
    return existsSync('/proc/self/fd') ? fromProc(pid) : fromPs(pid);
  } catch {
    return null;
  }
}

function fromProc(pid: number): ProcessUsage {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error('the process has ended');
  const sockets = tcpSockets();
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  const connections = descriptors.filter((descriptor) => {
    const inode = /^socket:\[(\d+)\]$/.exec(targetOf(`/proc/${pid}/fd/${descriptor}`))?.[1];
    return inode !== undefined && sockets.has(inode);
  });
  return {
    memoryMb: (Number(kilobytes) * 1_024) / MB,
    files: descriptors.length,
    connections: connections.length,
    cpuMs: cpuMsOf(pid),
  };
}

/**
 * Reads `/proc/<pid>/stat` (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). Linux counts 100 ticks a
 * second.
 */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from field 3 on, because the name can have spaces
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // closed in the meantime
  }
}

/** Returns the inodes of all TCP sockets of this machine that are not listening. */
function tcpSockets(): ReadonlySet<string> {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(1) : [],
  );
  const columns = lines.map((line) => line.trim().split(/\s+/));
  return new Set(columns.flatMap(({ 3: state, 9: inode }) => (state !== LISTENING && inode ? [inode] : [])));
}

function fromPs(pid: number): ProcessUsage {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return { memoryMb: (Number(kilobytes) * 1_024) / MB, files: null, connections: null, cpuMs: null };
}
