/**
 * Simulates every platform in the platform table. The sandbox is deterministic, except for the text of new tokens. It
 * is as strict with tokens as the real platforms, except that every platform accepts the repetition of an exchange
 * (`REPEAT_MS`).
 */
import { setTimeout as delay } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { isRotating } from '../../../platforms/platforms';
import type { Database } from '../../database/database';
import { sha256 } from '../../digests';
import { dataTypesOf, type DataType } from '../data-types';
import {
  PlatformInaccessible,
  PlatformRefusal,
  type FetchedPage,
  type Grant,
  type Organization,
  type PlatformRecord,
  type Platforms,
  type PushAnswer,
  type PushedRecord,
  type TokenPair,
} from '../platform';
import { parseCredential, tokenOf, type SandboxCredential } from './credentials';
import { countPushed, storePushed, readPushed, type DataSetRef } from './pushed-records';
import { recordAt, recordCount } from './records';
import { countUse, recordAndCheckNewest, isRecentAndUnused, mintPair, recordMinted, useRefreshToken } from './tokens';

/** Client secret for tests: the sandbox refuses an application with it, as if the secret had been mistyped. */
const WRONG_SECRET = 'sbx-wrong-secret';
const PAGE_SIZE = 250;
/**
 * How long a platform that rotates refresh tokens accepts every further use of a token: half an hour on Xero. On other
 * such platforms, a used token is accepted only for a repetition of its exchange (`REPEAT_MS`).
 */
const GRACE_MS: Readonly<Record<string, number>> = { gbol: 30 * 60_000 };
/**
 * How long the sandbox accepts a repetition of an exchange whose new refresh token has not been used. Some real
 * platforms do not offer this: see docs/decisions/0022-credentials-of-the-service.md.
 */
const REPEAT_MS = 24 * 60 * 60_000;
/** QuickBooks Online replaces a refresh token about once a day. */
const ROTATES_AFTER_MS = 24 * 60 * 60_000;
/** Zoho Books keeps this many refresh tokens per user. When it issues one more, the oldest becomes invalid. */
const TOKENS_OF_A_USER = 20;

export interface SandboxPace {
  /** Milliseconds that a push takes, and that a data set takes in addition to the time per record. */
  readonly syncBaseMs: number;
  /** Milliseconds per record of a page. */
  readonly syncMsPerRecord: number;
}

export class SandboxPlatforms implements Platforms {
  private readonly pushed: DataLoader<DataSetRef, number>;

  constructor(
    private readonly db: Database,
    private readonly pace: SandboxPace,
  ) {
    this.pushed = new DataLoader((books) => countPushed(db, books), { cache: false });
  }

  async identify(grant: Grant): Promise<Organization> {
    const credential = await this.checkGrant(grant);
    const { platform } = grant;
    const given =
      grant.credential[platform.organizationField] ??
      credential.suffix ??
      sha256(credential.root).toString('hex').slice(0, 12);
    const id = credential.otherOrganization ? `other-${given}` : given;
    const dataTypes = dataTypesOf(platform).filter((dataType) => dataType !== credential.without);
    return { id, name: `Organization ${id}`, dataTypes };
  }

  async refresh(grant: Grant, exchangeId?: string): Promise<TokenPair> {
    const credential = await this.checkGrant(grant);
    if (credential.refreshRefused) throw new PlatformRefusal('GrantRefused', credential.refreshRefused);
    const token = tokenOf(grant);
    const pair = mintPair(credential.root);
    const { key, rotation } = grant.platform;
    const isKept = rotation === 'daily' && (await isRecentAndUnused(this.db, key, token, ROTATES_AFTER_MS));
    if (isKept || !isRotating(grant.platform)) return { ...pair, refreshToken: token };
    const use = { platformKey: key, token, successor: pair.refreshToken, exchangeId };
    if (!(await useRefreshToken(this.db, use, { graceMs: GRACE_MS[key] ?? 0, repeatMs: REPEAT_MS }))) {
      throw new PlatformRefusal('GrantRefused', 'The refresh token has already been used.');
    }
    if (rotation === 'daily') await recordMinted(this.db, key, pair.refreshToken);
    return pair;
  }

  async fetch(grant: Grant, organizationId: string, dataType: DataType, cursor?: string): Promise<FetchedPage> {
    const books = booksOf(grant, organizationId, dataType);
    const { invoices, expiresDuringSync, delayMs = 0 } = parseCredential(tokenOf(grant));
    const generatedCount = recordCount(dataType, invoices);
    const total = generatedCount + (await this.pushed.load(books));
    const sizeAt = (from: number) => Math.min(PAGE_SIZE, total - from);
    const waitFor = (records: number) => records * this.pace.syncMsPerRecord + delayMs;

    if (cursor === undefined) {
      return { records: [], progress: 0, next: { cursor: '0', afterMs: this.pace.syncBaseMs + waitFor(sizeAt(0)) } };
    }
    const from = Number(cursor);
    const end = from + sizeAt(from);
    if (expiresDuringSync && end >= total / 2) throw new PlatformRefusal('GrantRefused', 'The grant has expired.');
    const records: PlatformRecord[] = [];
    for (let index = from; index < Math.min(end, generatedCount); index += 1) {
      records.push(recordAt(organizationId, dataType, index, invoices));
    }
    if (end > generatedCount) {
      const offset = Math.max(0, from - generatedCount);
      records.push(...(await readPushed(this.db, books, { offset, limit: end - generatedCount - offset })));
    }
    if (end >= total) return { records, progress: 100 };
    return {
      records,
      progress: Math.floor((100 * end) / total),
      next: { cursor: String(end), afterMs: waitFor(sizeAt(end)) },
    };
  }

  async push(grant: Grant, organizationId: string, pushed: PushedRecord): Promise<PushAnswer> {
    const { key, dataType, record, accepted } = pushed;
    const { invoices, expiresDuringSync, delayMs = 0 } = parseCredential(tokenOf(grant));
    if (expiresDuringSync && accepted) throw new PlatformRefusal('GrantRefused', 'The grant has expired.');
    if (!accepted) return { statusCode: 202, afterMs: this.pace.syncBaseMs + delayMs };
    const books = booksOf(grant, organizationId, dataType);
    const index = recordCount(dataType, invoices) + (await this.pushed.load(books));
    await storePushed(this.db, books, { key, index, record });
    return { statusCode: 200, recordId: key };
  }

  /** Checks the application and the grant. */
  private async checkGrant(grant: Grant): Promise<SandboxCredential> {
    const token = tokenOf(grant);
    const credential = parseCredential(token);
    if (credential.delayMs) await delay(credential.delayMs);
    if (credential.inaccessible) throw new PlatformInaccessible('The downstream endpoint is not accessible.');
    checkApplication(grant, credential);
    await this.checkUser(grant, credential);
    const { refused } = credential;
    if (refused) {
      const uses = Number.isFinite(refused.times) ? await countUse(this.db, grant.platform.key, token) : 0;
      if (uses <= refused.times) throw new PlatformRefusal(refused.reason, refused.message);
    }
    return credential;
  }

  /** Checks that newer tokens of the user have not invalidated the token, if the platform limits tokens per user. */
  private async checkUser({ platform }: Grant, { root, user }: SandboxCredential): Promise<void> {
    if (user === undefined || platform.rotation !== 'kept' || platform.family !== 'user') return;
    const known = { platformKey: platform.key, user, token: root, kept: TOKENS_OF_A_USER };
    if (await recordAndCheckNewest(this.db, known)) return;
    throw new PlatformRefusal(
      'GrantRefused',
      'The user has obtained newer refresh tokens, which invalidated this refresh token.',
    );
  }
}

function booksOf(grant: Grant, organizationId: string, dataType: DataType): DataSetRef {
  const { root } = parseCredential(tokenOf(grant));
  return { platformKey: grant.platform.key, organizationId, root, dataType };
}

function checkApplication({ application }: Grant, { clientId }: SandboxCredential): void {
  if (!application) return;
  if (application.clientSecret === WRONG_SECRET) {
    throw new PlatformRefusal('ApplicationRefused', 'The client secret is wrong.');
  }
  if (clientId !== undefined && clientId !== application.clientId) {
    throw new PlatformRefusal('ApplicationRefused', 'The grant belongs to another application.');
  }
}
