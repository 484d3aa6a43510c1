/** Reads the figures of all processes of a cluster and of its databases, at one moment. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { Client } from 'pg';
import type { Cluster } from '../cluster';
import type { HeapEntry } from './heap-log';
import { processUsage } from './process-usage';

/** A figure of one part of the cluster, for example the memory of `worker-1`. */
export interface Figure {
  readonly part: string;
  readonly quantity: Quantity;
  readonly value: number;
}

export type Quantity =
  | 'memory'
  | 'heap'
  | 'workflow heap'
  | 'files'
  | 'connections'
  | 'rows'
  | 'dead rows'
  | 'cpu'
  | 'load';

export interface Sampler {
  /** Returns the figures, without those of programs that are not running. */
  sample(): Promise<readonly Figure[]>;
  close(): Promise<void>;
}

const MB = 1_024 * 1_024;

/** Counts the connections of programs, except the sampler's own. */
const CONNECTIONS = `select count(*)::integer as value from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()`;
const DEAD_ROWS = 'select coalesce(sum(n_dead_tup), 0)::integer as value from pg_stat_user_tables';
const LEDGER_ROWS = `
  select 'ledger: ' || state as part, count(*)::integer as value from tokenferry.companies group by state
  union all select 'audit trail', count(*)::integer from tokenferry.decisions`;

/** @param heapLog the file that `heap-log.ts` writes */
export async function openSampler(
  { databases, workers, service, temporal }: Cluster,
  heapLog: string,
): Promise<Sampler> {
  const clients = await Promise.all(
    Object.values(databases).map(async ({ name, url }) => {
      const client = new Client({ connectionString: url });
      await client.connect();
      return { name, client, url };
    }),
  );
  const programs = [...workers, service, ...Object.values(temporal)];
  let machine = cpuTimes();
  let sampledAtMs = Date.now();
  const cpuMsBefore = new Map<string, number>();

  async function ofDatabase({ name, client, url }: (typeof clients)[number]): Promise<readonly Figure[]> {
    const read = async (sql: string) => (await client.query<{ part?: string; value: number }>(sql)).rows;
    const figures = (rows: Awaited<ReturnType<typeof read>>, quantity: Quantity) =>
      rows.map(({ part = name, value }) => ({ part, quantity, value }));
    return [
      ...figures(await read(CONNECTIONS), 'connections'),
      // Temporal's tables are in other databases of its server.
      ...(url === databases.temporal.url ? [] : figures(await read(DEAD_ROWS), 'dead rows')),
      ...(url === databases.ledger.url ? figures(await read(LEDGER_ROWS), 'rows') : []),
    ];
  }

  return {
    async sample() {
      const sinceMs = Date.now() - sampledAtMs;
      sampledAtMs += sinceMs;
      const heaps = readHeaps(heapLog);
      const ofPrograms = programs.flatMap(({ name: part, pid }): Figure[] => {
        const usage = pid === null ? null : processUsage(pid);
        if (usage === null) return [];
        const { memoryMb: memory, files, connections, cpuMs } = usage;
        const cpu = cpuMs === null ? null : (cpuMs - (cpuMsBefore.get(part) ?? NaN)) / sinceMs;
        if (cpuMs !== null) cpuMsBefore.set(part, cpuMs);
        const { main, others } = heapOf(heaps, pid);
        const values = { memory, files, connections, heap: main, 'workflow heap': others, cpu };
        return Object.entries(values).flatMap(([quantity, value]) =>
          value === null || Number.isNaN(value) ? [] : [{ part, quantity: quantity as Quantity, value }],
        );
      });
      const ofDatabases = await Promise.all(clients.map(ofDatabase));
      const before = machine;
      machine = cpuTimes();
      const busy = 1 - (machine.idle - before.idle) / Math.max(1, machine.all - before.all);
      return [
        ...ofPrograms,
        ...ofDatabases.flat(),
        { part: 'machine: load average of the last minute', quantity: 'load', value: loadavg()[0] ?? 0 },
        { part: 'machine: share of busy time', quantity: 'load', value: busy },
      ];
    },
    async close() {
      for (const { client } of clients) await client.end();
    },
  };
}

function cpuTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all };
}

/** Returns the latest entry of each thread. */
function readHeaps(file: string): readonly HeapEntry[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const latest = new Map<string, HeapEntry>();
  for (const line of lines) {
    const entry = JSON.parse(line) as HeapEntry;
    latest.set(`${entry.pid}/${entry.thread}`, entry);
  }
  return [...latest.values()];
}

/**
 * Returns the memory of JavaScript objects, in and outside the heap, of the main thread and of all other threads of a
 * process, in MB; null without an entry.
 */
function heapOf(heaps: readonly HeapEntry[], pid: number | null): { main: number | null; others: number | null } {
  const sum = (entries: readonly HeapEntry[]): number | null =>
    entries.length === 0
      ? null
      : entries.reduce((bytes, { heapBytes, externalBytes }) => bytes + heapBytes + externalBytes, 0) / MB;
  const own = heaps.filter((entry) => entry.pid === pid);
  return { main: sum(own.filter(({ thread }) => thread === 0)), others: sum(own.filter(({ thread }) => thread > 0)) };
}
