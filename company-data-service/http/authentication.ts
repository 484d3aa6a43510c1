/** Authenticates the caller by an API key, sent as HTTP Basic credentials without a user name. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Database } from '../database/database';
import type { Plan, Role } from '../database/tables';
import { sha256 } from '../digests';
import { accountExpired, revokedKey, unauthorized, type ServiceError } from './errors/errors';
import { AddressLimit } from './limits/address-limit';

const ACCOUNT_LIFETIME_MS = 365 * 86_400_000;
/** How long a revoked key can still be accepted, in milliseconds. */
const CACHE_MS = 2_000;
const MAX_CACHED_KEYS = 1_000;

export interface Caller {
  readonly keyId: string;
  readonly role: Role;
  readonly accountId: string;
  readonly plan: Plan;
  /** Absent if the account does not expire. */
  readonly expiresAt?: Date;
}

interface CachedKey {
  readonly caller: Caller;
  readonly state: 'active' | 'outdated';
  readonly digest: Buffer;
  readonly expiresFromCacheAt: number;
}

/** Looks up API keys, and caches each one for two seconds. */
export class Authenticator {
  private readonly cache = new Map<string, CachedKey>();
  private readonly wrongKeys: AddressLimit;

  /** @param wrongKeysPerMinute how many wrong keys an address can send before it gets 429 */
  constructor(
    private readonly db: Database,
    wrongKeysPerMinute: number,
  ) {
    this.wrongKeys = new AddressLimit(wrongKeysPerMinute);
  }

  /**
   * Returns the caller, and the refusal if there is one: 403 if the key is revoked, otherwise 402 if the account has
   * expired.
   *
   * @throws ServiceError 401; 429 if the address has sent too many wrong keys and the key is not in the cache
   */
  async authenticate(request: FastifyRequest): Promise<{ caller: Caller; refusal?: ServiceError }> {
    const digest = sha256(keyIn(request.headers.authorization));
    // A key that was valid before is looked up even if its address is at the limit, because callers with a valid
    // key and callers with wrong keys can share an address.
    if (!this.cache.has(digest.toString('base64'))) this.wrongKeys.assertBelow(request);
    const known = await this.find(digest);
    if (!known || !timingSafeEqual(known.digest, digest)) {
      this.wrongKeys.count(request);
      throw unauthorized();
    }
    const { caller, state } = known;
    if (state === 'outdated') return { caller, refusal: revokedKey() };
    if (caller.expiresAt && caller.expiresAt.getTime() <= Date.now()) return { caller, refusal: accountExpired() };
    return { caller };
  }

  private async find(digest: Buffer): Promise<CachedKey | undefined> {
    const name = digest.toString('base64');
    const cached = this.cache.get(name);
    if (cached && cached.expiresFromCacheAt > Date.now()) return cached;
    const found = await this.read(digest);
    if (this.cache.size >= MAX_CACHED_KEYS) this.cache.clear();
    if (found) this.cache.set(name, found);
    return found;
  }

  private async read(digest: Buffer): Promise<CachedKey | undefined> {
    const row = await this.db
      .selectFrom('api_keys')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select(['api_keys.id', 'account_id', 'role', 'state', 'digest', 'plan', 'accounts.created_at'])
      .where('digest', '=', digest)
      .executeTakeFirst();
    if (!row) return undefined;
    const expires = row.plan !== 'paid' && { expiresAt: new Date(row.created_at.getTime() + ACCOUNT_LIFETIME_MS) };
    const caller = { keyId: row.id, role: row.role, accountId: row.account_id, plan: row.plan, ...expires };
    return { caller, state: row.state, digest: row.digest, expiresFromCacheAt: Date.now() + CACHE_MS };
  }
}

function keyIn(authorization = ''): string {
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) throw unauthorized();
  return Buffer.from(encoded, 'base64').toString('utf8');
}
