/** Watches how many companies are linked, in order to measure how soon moves continue after a repair. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

interface Sample {
  readonly atMs: number;
  /** Companies that are linked at the service, according to the ledger. */
  readonly linked: number;
  readonly waiting: number;
}

/** Milliseconds until the next move; `timed out` if there was none in time; null if no company was waiting. */
export type Recovery = number | 'timed out' | null;

export interface MoveWatch {
  /**
   * Waits for the next company that is linked after `sinceMs`.
   *
   * @param sinceMs milliseconds since 1970
   * @returns the time from `sinceMs` until that company is linked; `timed out` after `withinMs`; null if no company is
   * still waiting
   */
  nextMove(sinceMs: number, withinMs: number): Promise<Recovery>;
  stop(): Promise<void>;
}

const POLL_MS = 200;

/** Starts to poll the ledger, until `stop` is called. A connection that is lost is opened again. */
export function watchMoves(ledgerUrl: string): MoveWatch {
  const samples: Sample[] = [];
  let stopped = false;
  const polling = (async () => {
    while (!stopped) {
      await sampleUntilLost(ledgerUrl, samples, () => stopped).catch(() => undefined);
      await delay(POLL_MS);
    }
  })();
  return {
    async nextMove(sinceMs, withinMs) {
      while (Date.now() < sinceMs + withinMs) {
        const moved = samples.find(
          ({ atMs, linked }, index) => atMs > sinceMs && linked > (samples[index - 1]?.linked ?? Infinity),
        );
        if (moved) return moved.atMs - sinceMs;
        const latest = samples.at(-1);
        if (latest && latest.atMs > sinceMs && latest.waiting === 0) return null;
        await delay(POLL_MS);
      }
      return 'timed out';
    },
    async stop() {
      stopped = true;
      await polling;
    },
  };
}

async function sampleUntilLost(url: string, samples: Sample[], isStopped: () => boolean): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    while (!isStopped()) {
      const { rows } = await client.query<Omit<Sample, 'atMs'>>(
        `select (count(*) filter (where c.state in ('syncing', 'moved')))::int as linked,
                (count(*) filter (where c.state = 'waiting'))::int as waiting
         from tokenferry.companies c join tokenferry.migrations m on m.id = c.migration_id
         where m.closed_at is null`,
      );
      if (rows[0]) samples.push({ atMs: Date.now(), ...rows[0] });
      await delay(POLL_MS);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
