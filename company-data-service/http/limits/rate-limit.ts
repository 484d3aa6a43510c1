import { sql } from 'kysely';
import type { Database } from '../../database/database';
import type { Allowance } from './allowance';

const WINDOW_SECONDS = 60;
/**
 * A process leases a twentieth of the limit at a time. Smaller leases would need more queries; larger leases would
 * leave more requests unused in other processes.
 */
const LEASES_PER_WINDOW = 20;

/** A window of a key, and how many more requests this process can accept in it. */
interface Window {
  /** The end of the window by the database's clock, which identifies the window. */
  readonly id: number;
  /** The end by this process's clock. Milliseconds since 1970. */
  readonly endsAt: number;
  /** Number of requests that this process has leased and not used. */
  left: number;
  /** Number of requests that no process had leased yet, after this process's latest lease. */
  readonly free: number;
}

/**
 * Limits the requests per minute of each key. All processes of one database share the limit: each process leases a part
 * of it and counts in memory. Together they never exceed the limit, but can leave a part of it unused. A single process
 * allows exactly the limit.
 */
export class RateLimiter {
  private readonly windows = new Map<string, Window>();
  private readonly leasing = new Map<string, Promise<void>>();

  constructor(
    private readonly db: Database,
    private readonly requestsPerMinute: number,
  ) {}

  /** Counts a request and returns how many are left. */
  async count(keyId: string): Promise<Allowance> {
    for (;;) {
      const window = this.windows.get(keyId);
      const isOpen = window !== undefined && window.endsAt > Date.now();
      if (isOpen && (window.left > 0 || window.free === 0)) {
        if (window.left === 0) return { limit: this.requestsPerMinute, remaining: -1, resetAt: window.endsAt };
        window.left -= 1;
        return { limit: this.requestsPerMinute, remaining: window.left + window.free, resetAt: window.endsAt };
      }
      await this.leaseOnce(keyId);
    }
  }

  /** Leases another part of the limit. If a lease of the key is already pending, waits for that lease instead. */
  private leaseOnce(keyId: string): Promise<void> {
    const pending = this.leasing.get(keyId);
    if (pending) return pending;
    const lease = this.lease(keyId).finally(() => this.leasing.delete(keyId));
    this.leasing.set(keyId, lease);
    return lease;
  }

  private async lease(keyId: string): Promise<void> {
    const limit = this.requestsPerMinute;
    const part = Math.ceil(limit / LEASES_PER_WINDOW);
    const { rows } = await sql<{ id: number; endsInMs: number; granted: number; taken: number }>`
      insert into rate_windows as w (key_id, ends_at, taken, granted)
      values (${keyId}, clock_timestamp() + make_interval(secs => ${WINDOW_SECONDS}), ${part}::int, ${part}::int)
      on conflict (key_id) do update set (ends_at, taken, granted) = (
        select known.ends_at, known.taken + lease.granted, lease.granted
        from (select w.ends_at > clock_timestamp() as is_open) w_now
        cross join lateral (
          select case when is_open then w.ends_at else excluded.ends_at end, case when is_open then w.taken else 0 end
        ) known (ends_at, taken)
        cross join lateral (select greatest(0, least(${part}::int, ${limit}::int - known.taken))) lease (granted)
      )
      returning granted, taken, (extract(epoch from ends_at) * 1000)::float8 as id,
        (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as "endsInMs"`.execute(this.db);
    const { id = 0, endsInMs = 0, granted = 0, taken = limit } = rows[0] ?? {};
    const known = this.windows.get(keyId);
    // If the window is the same, keep its known end, because the duration of this query varies.
    const endsAt =
      known?.id === id && known.endsAt > Date.now() ? known.endsAt : Math.ceil(Date.now() + Math.max(0, endsInMs));
    this.windows.set(keyId, { id, endsAt, left: granted, free: Math.max(0, limit - taken) });
  }
}
