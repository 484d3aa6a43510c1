/** Prometheus with the product's alert rules, on the workers of a cluster. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startAtPort, FIRST_PORTS, type ProcessAtPort } from './cluster-process';
import type { WorkerProcess } from './types';

const RULES = path.join(__dirname, '..', '..', '..', 'deploy', 'prometheus', 'alerts.yml');
/** Alerts fire after 1/200 of their time (1.5 s instead of 5 min), because in a trial parts are down for seconds. */
const FASTER = 200;
/** Rules that are evaluated before the first scrape see no worker. The alerts that then fire end within this time. */
const SETTLED_AFTER_MS = 3_000;

export interface ClusterPrometheus extends ProcessAtPort {
  /**
   * Returns the alerts that have fired later than {@link SETTLED_AFTER_MS} after the start: each as `alert (instance)`,
   * or as `alert` if it is about all workers.
   */
  firedAlerts(): Promise<readonly string[]>;
}

/**
 * Starts Prometheus.
 *
 * @param folder for its data; created
 * @returns null if `prometheus` is not installed on this machine
 */
export async function startClusterPrometheus(
  workers: readonly WorkerProcess[],
  folder: string,
): Promise<ClusterPrometheus | null> {
  const command = findCommand('prometheus');
  if (command === null) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'alerts.yml'), withShorterTimes(readFileSync(RULES, 'utf8')));
  writeFileSync(path.join(folder, 'prometheus.yml'), configuration(workers));
  const prometheus = await startAtPort(FIRST_PORTS.prometheus, (port, url) => ({
    name: 'prometheus',
    program: () => ({
      command,
      args: [
        `--config.file=${path.join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      env: { PATH: process.env['PATH'] },
      logFile: path.join(folder, 'prometheus.log'),
    }),
    isReady: () =>
      query(url, 'sum(up)').then(
        ([up]) => up?.value[1] === String(workers.length),
        () => false,
      ),
  }));
  const settledAt = Date.now() + SETTLED_AFTER_MS;
  return Object.assign(prometheus, { firedAlerts: () => firedAlerts(prometheus.url, Date.now() - settledAt) });
}

function findCommand(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}

function withShorterTimes(rules: string): string {
  return rules.replace(/^( +for: )(\d+)m$/gm, (_, key: string, minutes: string) => {
    return `${key}${Math.round((Number(minutes) * 60_000) / FASTER)}ms`;
  });
}

function configuration(workers: readonly WorkerProcess[]): string {
  const targets = workers.map(({ metricsAddress }) => metricsAddress).filter((address) => address !== null);
  return JSON.stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'tokenferry-worker', static_configs: [{ targets }] }],
  });
}

async function firedAlerts(url: string, sinceMs: number): Promise<readonly string[]> {
  const seconds = Math.max(1, Math.round(sinceMs / 1_000));
  const firing = `max_over_time(ALERTS{alertstate="firing"}[${seconds}s])`;
  const fired = await query(url, `count by (alertname, instance) (${firing})`);
  return fired
    .map(({ metric: { alertname = '', instance } }) =>
      instance === undefined ? alertname : `${alertname} (${instance})`,
    )
    .sort();
}

interface Sample {
  readonly metric: { readonly alertname?: string; readonly instance?: string };
  /** The time in seconds since 1970, and the value as text. */
  readonly value: readonly [number, string];
}

async function query(url: string, promql: string): Promise<readonly Sample[]> {
  const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: promql }).toString()}`);
  const { data } = (await response.json()) as { readonly data: { readonly result: readonly Sample[] } };
  return data.result;
}
