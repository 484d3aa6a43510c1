/** What the sandbox platform remembers of tokens: kept in Postgres, so that every process knows what is spent. */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../database/database';
import type { TokenPair } from '../platform';

/** Counts that a token was presented, and answers how often that was so far. */
export async function countUse(db: Database, platformKey: string, token: string): Promise<number> {
  const { uses } = await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: digest(token), uses: 1 })
    .onConflict((conflict) =>
      conflict.columns(['platform_key', 'digest']).doUpdateSet((row) => ({ uses: row('sandbox_tokens.uses', '+', 1) })),
    )
    .returning('uses')
    .executeTakeFirstOrThrow();
  return uses;
}

/**
 * Uses a refresh token up. Of any number of callers, one gets `true`: whoever came first; and, where the platform is
 * patient, whoever comes within `graceMs` after that.
 */
export async function spend(db: Database, platformKey: string, token: string, graceMs: number): Promise<boolean> {
  const spent = await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: digest(token), spent_at: new Date() })
    .onConflict((conflict) =>
      conflict
        .columns(['platform_key', 'digest'])
        .doUpdateSet((row) => ({ spent_at: sql<Date>`coalesce(${row.ref('sandbox_tokens.spent_at')}, now())` }))
        .where((row) =>
          row.or([
            row('sandbox_tokens.spent_at', 'is', null),
            row('sandbox_tokens.spent_at', '>', new Date(Date.now() - graceMs)),
          ]),
        ),
    )
    .returning('digest')
    .executeTakeFirst();
  return spent !== undefined;
}

/** Remembers that the sandbox handed a token out just now. */
export async function rememberMinted(db: Database, platformKey: string, token: string): Promise<void> {
  await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: digest(token), minted_at: new Date() })
    .execute();
}

/** Whether the sandbox handed the token out itself, less than `withinMs` ago, and it is not dead. */
export async function isFresh(db: Database, platformKey: string, token: string, withinMs: number): Promise<boolean> {
  const found = await db
    .selectFrom('sandbox_tokens')
    .select('digest')
    .where('platform_key', '=', platformKey)
    .where('digest', '=', digest(token))
    .where('spent_at', 'is', null)
    .where('minted_at', '>', new Date(Date.now() - withinMs))
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether the token is among the user's newest `kept`. A token counts from when the sandbox sees it first. */
export async function isAmongNewest(
  db: Database,
  { platformKey, user, token, kept }: { platformKey: string; user: string; token: string; kept: number },
): Promise<boolean> {
  await db
    .insertInto('sandbox_user_tokens')
    .values({ platform_key: platformKey, user_name: user, digest: digest(token) })
    .onConflict((conflict) => conflict.columns(['platform_key', 'user_name', 'digest']).doNothing())
    .execute();
  const newest = await db
    .selectFrom('sandbox_user_tokens')
    .select('digest')
    .where('platform_key', '=', platformKey)
    .where('user_name', '=', user)
    .orderBy('number', 'desc')
    .limit(kept)
    .execute();
  return newest.some((row) => row.digest.equals(digest(token)));
}

/** A new pair of the same grant: it behaves as `root` says. */
export function mintPair(root: string): TokenPair {
  const mint = () => `${root}~${randomBytes(9).toString('base64url')}`;
  return { accessToken: mint(), refreshToken: mint() };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
