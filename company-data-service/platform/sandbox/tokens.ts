/** Issues the sandbox's tokens and records their use. The record is in Postgres, so that all processes share it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Platform as PlatformEntry } from '../../../platforms/platforms';
import type { Database } from '../../database/database';
import { sha256 } from '../../digests';
import type { TokenPair } from '../platform';

/** Counts a use of a token and returns the total number of uses. */
export async function countUse(db: Database, platformKey: string, token: string): Promise<number> {
  const { uses } = await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: sha256(token), uses: 1 })
    .onConflict((conflict) =>
      conflict.columns(['platform_key', 'digest']).doUpdateSet((row) => ({ uses: row('sandbox_tokens.uses', '+', 1) })),
    )
    .returning('uses')
    .executeTakeFirstOrThrow();
  return uses;
}

/** A use of a refresh token. */
export interface RefreshTokenUse {
  readonly platformKey: string;
  readonly token: string;
  /** The new refresh token. */
  readonly successor: string;
  /** Identifies an exchange that can be repeated (see `Platforms.refresh`); undefined if it cannot be repeated. */
  readonly exchangeId: string | undefined;
}

/**
 * Uses up a refresh token. Returns whether the platform accepts this use. It accepts the first use and, on platforms
 * with a grace period, every use within `graceMs` of the first. Within `repeatMs`, it also accepts a repetition of the
 * same exchange, unless the new refresh token has been used.
 */
export async function useRefreshToken(
  db: Database,
  { platformKey, token, successor, exchangeId }: RefreshTokenUse,
  { graceMs, repeatMs }: { graceMs: number; repeatMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into sandbox_tokens as known (platform_key, digest, spent_at, exchange_id, successor_digest)
    values (${platformKey}, ${sha256(token)}, clock_timestamp(), ${exchangeId ?? null}::uuid, ${sha256(successor)})
    on conflict (platform_key, digest) do update set
      spent_at = coalesce(known.spent_at, excluded.spent_at),
      exchange_id = excluded.exchange_id,
      successor_digest = excluded.successor_digest
    where known.spent_at is null
      or known.spent_at > clock_timestamp() - ${graceMs}::float8 * interval '1 millisecond'
      or known.exchange_id = excluded.exchange_id
        and known.spent_at > clock_timestamp() - ${repeatMs}::float8 * interval '1 millisecond'
        and not exists (
          select from sandbox_tokens successor
          where successor.platform_key = known.platform_key and successor.digest = known.successor_digest
            and successor.spent_at is not null
        )
    returning digest`.execute(db);
  return rows.length > 0;
}

/** Records that the sandbox issued a token now. */
export async function recordMinted(db: Database, platformKey: string, token: string): Promise<void> {
  await db
    .insertInto('sandbox_tokens')
    .values({ platform_key: platformKey, digest: sha256(token), minted_at: new Date() })
    .execute();
}

/** Returns whether the token was issued by the sandbox less than `withinMs` ago and has not been used. */
export async function isRecentAndUnused(
  db: Database,
  platformKey: string,
  token: string,
  withinMs: number,
): Promise<boolean> {
  const found = await db
    .selectFrom('sandbox_tokens')
    .select('digest')
    .where('platform_key', '=', platformKey)
    .where('digest', '=', sha256(token))
    .where('spent_at', 'is', null)
    .where('minted_at', '>', new Date(Date.now() - withinMs))
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Records a user's token if it is not recorded yet. Returns whether the token is among the last `kept` tokens that
 * were recorded for the user.
 */
export async function recordAndCheckNewest(
  db: Database,
  { platformKey, user, token, kept }: { platformKey: string; user: string; token: string; kept: number },
): Promise<boolean> {
  await db
    .insertInto('sandbox_user_tokens')
    .values({ platform_key: platformKey, user_name: user, digest: sha256(token) })
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
  return newest.some((row) => row.digest.equals(sha256(token)));
}

/**
 * Returns a new pair of tokens for the same grant. They begin with `root`, which determines how the sandbox treats
 * them.
 */
export function mintPair(root: string): TokenPair {
  const mint = () => `${root}~${randomBytes(9).toString('base64url')}`;
  return { accessToken: mint(), refreshToken: mint() };
}

/** Number of invoices of an organization that was linked through the sandbox's consent page. */
const CONSENT_INVOICES = 10;

/** Returns an authorization body with new, valid tokens, as a platform issues them when the end customer consents. */
export function mintConsentTokens(platform: PlatformEntry, organizationId: string): Record<string, string> {
  const { requiredFields, organizationField } = platform;
  const suffix = requiredFields.includes(organizationField) ? randomUUID() : organizationId;
  const token = `sbx-ok-${CONSENT_INVOICES}.${suffix}~${randomUUID()}`;
  return Object.fromEntries(
    requiredFields.map((field) => {
      if (field === organizationField) return [field, organizationId];
      return [field, field.endsWith('Token') ? token : 'sandbox'];
    }),
  );
}
