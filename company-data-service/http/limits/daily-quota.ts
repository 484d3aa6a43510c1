import { sql } from 'kysely';
import type { Database } from '../../database/database';
import type { Allowance } from './allowance';
import type { Caller } from '../authentication';

const DAY_MS = 86_400_000;

/**
 * Counts a request against a key's quota for the day (UTC) and returns the remaining allowance. The quota is `unit` for
 * the account plus `unit` for each company that currently has a linked connection. The count is in Postgres, so that
 * all processes share it.
 */
export async function countDailyRequest(db: Database, { keyId, accountId }: Caller, unit: number): Promise<Allowance> {
  const { rows } = await sql<{ used: number; linked: number }>`
    insert into daily_requests (key_id, day, used) values (${keyId}, (clock_timestamp() at time zone 'UTC')::date, 1)
    on conflict (key_id, day) do update set used = daily_requests.used + 1
    returning used, (
      select count(distinct company_id)::int from connections join companies on companies.id = company_id
      where account_id = ${accountId} and status = 'Linked'
    ) as linked`.execute(db);
  const { used = 1, linked = 0 } = rows[0] ?? {};
  const limit = unit * (1 + linked);
  return { limit, remaining: limit - used, resetAt: (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS };
}

/** Deletes the counts of the days before yesterday. */
export async function deleteOldCounts(db: Database): Promise<void> {
  await sql`delete from daily_requests where day < (clock_timestamp() at time zone 'UTC')::date - 1`.execute(db);
}
