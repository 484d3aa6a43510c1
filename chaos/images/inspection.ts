/** Checks of running containers. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from './containers';

const POLL_MS = 2_000;
const SCRAPED_WITHIN_MS = 60_000;
/** The id of the user that the Dockerfile creates. */
const USER = '10001';

/** @throws if a container runs as another user, or if its root file system can be written to */
export async function assertIsolated(containers: readonly Container[]): Promise<void> {
  for (const container of containers) {
    const user = await container.exec('id', '-u');
    if (user !== USER) throw new Error(`${container.name} runs as user ${user}`);
    const mounts = await container.exec('cat', '/proc/mounts');
    const [, options = ''] = / \/ \S+ (\S+)/.exec(mounts) ?? [];
    if (!options.split(',').includes('ro')) throw new Error(`the root file system of ${container.name} is ${options}`);
  }
}

/**
 * Waits until Prometheus reads the metrics of all its targets.
 *
 * @returns the number of targets
 * @throws if that takes more than a minute
 */
export async function awaitTargets(prometheusUrl: string): Promise<number> {
  for (const deadline = Date.now() + SCRAPED_WITHIN_MS; ; await delay(POLL_MS)) {
    const response = await fetch(`${prometheusUrl}/api/v1/targets?state=active`);
    const { data } = (await response.json()) as {
      data: { activeTargets: { health: string; scrapeUrl: string; lastError: string }[] };
    };
    const failing = data.activeTargets.filter(({ health }) => health !== 'up');
    if (data.activeTargets.length > 0 && failing.length === 0) return data.activeTargets.length;
    if (Date.now() > deadline) {
      const reasons = failing.map(({ scrapeUrl, lastError }) => `${scrapeUrl}: ${lastError}`);
      throw new Error(`Prometheus cannot read ${reasons.join('; ') || 'any metrics'}`);
    }
  }
}
