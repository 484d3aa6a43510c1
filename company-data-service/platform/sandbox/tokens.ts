/** What the sandbox platform remembers of tokens: kept in Postgres, so that every process knows what is spent. */
import { createHash, randomBytes } from 'node:crypto';
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

/** Uses a refresh token up. Of any number of callers, one gets `true`: whoever came first. */
export async function spend(db: Database, platformKey: string, token: string): Promise<boolean> {
  const spent = await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: digest(token), spent_at: new Date() })
    .onConflict((conflict) =>
      conflict
        .columns(['platform_key', 'digest'])
        .doUpdateSet({ spent_at: new Date() })
        .where('sandbox_tokens.spent_at', 'is', null),
    )
    .returning('digest')
    .executeTakeFirst();
  return spent !== undefined;
}

/** A new pair of the same grant: it behaves as `root` says. */
export function mintPair(root: string): TokenPair {
  const mint = () => `${root}~${randomBytes(9).toString('base64url')}`;
  return { accessToken: mint(), refreshToken: mint() };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
