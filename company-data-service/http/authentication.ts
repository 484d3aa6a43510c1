/** Who is calling: an API key as HTTP Basic credentials, the key alone, without a user name. */
import { timingSafeEqual } from 'node:crypto';
import { keyDigest } from '../api-keys';
import type { Database } from '../database/database';
import type { Plan, Role } from '../database/tables';
import type { ServiceError } from './errors';
import { accountExpired, outdatedKey, unauthorized } from './errors';

const ACCOUNT_LIFETIME_MS = 365 * 86_400_000;
/** So long a key that was retired may still be answered. */
const REMEMBERED_MS = 2_000;
const REMEMBERED_KEYS = 1_000;

export interface Caller {
  readonly keyId: string;
  readonly role: Role;
  readonly accountId: string;
  readonly plan: Plan;
  /** Absent where the plan does not expire. */
  readonly expiresAt?: Date;
}

interface RememberedKey {
  readonly caller: Caller;
  readonly state: 'active' | 'outdated';
  readonly digest: Buffer;
  readonly forgetAt: number;
}

/** Finds out whose key a request carries, asking the database at most every two seconds for each key. */
export class Authenticator {
  private readonly remembered = new Map<string, RememberedKey>();

  constructor(private readonly db: Database) {}

  /**
   * Who calls, and why they are refused all the same: 403 of an outdated key, 402 of an expired account, in this order.
   *
   * @throws ServiceError 401
   */
  async authenticate(authorization: string | undefined): Promise<{ caller: Caller; refusal?: ServiceError }> {
    const digest = keyDigest(keyIn(authorization));
    const known = await this.find(digest);
    if (!known || !timingSafeEqual(known.digest, digest)) throw unauthorized();
    const { caller, state } = known;
    if (state === 'outdated') return { caller, refusal: outdatedKey() };
    if (caller.expiresAt && caller.expiresAt.getTime() <= Date.now()) return { caller, refusal: accountExpired() };
    return { caller };
  }

  private async find(digest: Buffer): Promise<RememberedKey | undefined> {
    const name = digest.toString('base64');
    const remembered = this.remembered.get(name);
    if (remembered && remembered.forgetAt > Date.now()) return remembered;
    const found = await this.read(digest);
    if (this.remembered.size >= REMEMBERED_KEYS) this.remembered.clear();
    if (found) this.remembered.set(name, found);
    return found;
  }

  private async read(digest: Buffer): Promise<RememberedKey | undefined> {
    const row = await this.db
      .selectFrom('api_keys')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select(['api_keys.id', 'account_id', 'role', 'state', 'digest', 'plan', 'accounts.created_at'])
      .where('digest', '=', digest)
      .executeTakeFirst();
    if (!row) return undefined;
    const expires = row.plan !== 'paid' && { expiresAt: new Date(row.created_at.getTime() + ACCOUNT_LIFETIME_MS) };
    const caller = { keyId: row.id, role: row.role, accountId: row.account_id, plan: row.plan, ...expires };
    return { caller, state: row.state, digest: row.digest, forgetAt: Date.now() + REMEMBERED_MS };
  }
}

function keyIn(authorization = ''): string {
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) throw unauthorized();
  return Buffer.from(encoded, 'base64').toString('utf8');
}
