/** The one interface through which the service talks to the platforms that companies keep their books on. */
import type { Platform as PlatformEntry } from '../../platforms/platforms';
import type { DataType } from './data-types';

/** The client's own application at a platform: its refresh tokens are bound to it. */
interface Application {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly environment: 'production' | 'sandbox';
}

/** What is needed to speak to a platform for one company. */
export interface Grant {
  readonly platform: PlatformEntry;
  /** The fields of the authorization body. Secret. */
  readonly credential: Readonly<Record<string, string>>;
  /** Absent where the client registered none. */
  readonly application?: Application;
}

/** Whose data an access token opens. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  /** What this organization can deliver. */
  readonly dataTypes: readonly DataType[];
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface PlatformRecord {
  /** Unique among the organization's records of the data type. */
  readonly id: string;
  readonly createdAt: Date;
  /** The record as a client reads it, `id` included. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A part of a data set. Platforms prepare a page before it can be fetched, as exports do; `next` says how long. */
export interface FetchedPage {
  readonly records: readonly PlatformRecord[];
  /** Share of the data set that has been fetched, this page included: 0 to 100. */
  readonly progress: number;
  /** Absent on the last page. */
  readonly next?: { readonly cursor: string; readonly afterMs: number };
}

/** A record to be created at a platform. */
export interface PushedRecord {
  /** The same for every attempt: the platform creates one record for it. */
  readonly key: string;
  readonly dataType: DataType;
  readonly record: Readonly<Record<string, unknown>>;
  /** Whether the platform has accepted it before, and is only asked what became of it. */
  readonly accepted: boolean;
}

/** Accepted and not finished, or created. */
export type PushAnswer =
  | { readonly statusCode: 202; readonly afterMs: number }
  | { readonly statusCode: 200 | 201; readonly recordId: string };

export interface Platforms {
  /**
   * Asks whose data the access token opens. Uses nothing up.
   * @throws PlatformRefusal
   */
  identify(grant: Grant): Promise<Organization>;
  /**
   * Refreshes once. Where the platform rotates, the refresh token of `grant` is dead afterwards, whatever becomes of
   * the answer.
   * @throws PlatformRefusal
   */
  refresh(grant: Grant): Promise<TokenPair>;
  /**
   * Fetches one part of a data set; the first call (without `cursor`) has the platform prepare it.
   * @throws PlatformRefusal
   */
  fetch(grant: Grant, organizationId: string, dataType: DataType, cursor?: string): Promise<FetchedPage>;
  /**
   * Hands a record to the platform, or asks what became of it. What was created is in every data set that is fetched
   * later.
   * @throws PlatformRefusal, PlatformInaccessible
   */
  push(grant: Grant, organizationId: string, record: PushedRecord): Promise<PushAnswer>;
}

/** Why a platform does not serve a company; the `statusText` of a connection's error. */
export type RefusalReason =
  /** The grant is revoked, expired or was used already: the company has to authorize again. */
  | 'GrantRefused'
  /** Client id, secret or environment: not the company's fault. */
  | 'ApplicationRefused'
  | 'WrongOrganization'
  | 'PlatformUnavailable'
  | 'PlatformRateLimited';

/** Thrown when a platform refuses or cannot serve. The message never contains a token. */
export class PlatformRefusal extends Error {
  override readonly name = 'PlatformRefusal';

  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

/** Thrown when the platform's endpoint is not open to the service at all: answered 403, and nothing has been used. */
export class PlatformInaccessible extends Error {
  override readonly name = 'PlatformInaccessible';
}
