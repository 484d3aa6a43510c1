/** The interface through which the service calls the platforms. */
import type { Platform as PlatformEntry } from '../../platforms/platforms';
import type { DataType } from './data-types';

/** The client's own application at a platform. The client's refresh tokens are bound to it. */
interface Application {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly environment: 'production' | 'sandbox';
}

/** Everything needed to call a platform for one company. */
export interface Grant {
  readonly platform: PlatformEntry;
  /** The fields of the authorization body. Secret. */
  readonly credential: Readonly<Record<string, string>>;
  /** Absent if the client has not registered an application. */
  readonly application?: Application;
}

/** The organization that an access token belongs to. */
export interface Organization {
  readonly id: string;
  readonly name: string;
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
  /** The record as the API returns it, including `id`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * A page of a data set. The next page can be fetched after `next.afterMs`, because the platform has to prepare it
 * first.
 */
export interface FetchedPage {
  readonly records: readonly PlatformRecord[];
  /** Percentage of the data set fetched so far, including this page. */
  readonly progress: number;
  /** Absent on the last page. */
  readonly next?: { readonly cursor: string; readonly afterMs: number };
}

/** A record to be created at a platform. */
export interface PushedRecord {
  /** The same for every attempt, so that the platform creates only one record. */
  readonly key: string;
  readonly dataType: DataType;
  readonly record: Readonly<Record<string, unknown>>;
  /** True if the platform has already accepted the record and is only asked for the result. */
  readonly accepted: boolean;
}

/** The result of a push: accepted but not finished, or created. */
export type PushAnswer =
  | { readonly statusCode: 202; readonly afterMs: number }
  | { readonly statusCode: 200 | 201; readonly recordId: string };

export interface Platforms {
  /**
   * Returns the organization of the access token. Does not use up a token.
   *
   * @throws PlatformRefusal, PlatformInaccessible
   */
  identify(grant: Grant): Promise<Organization>;
  /**
   * Refreshes the tokens once. On a rotating platform, this can use up the refresh token of `grant`, even if the
   * response is lost. Some platforms then return new tokens when the call is repeated with the same exchange id: Xero
   * for 30 minutes, and Shopify until the new refresh token is used, for at most 30 days. FreshBooks does not. The
   * sandbox accepts the repetition for every platform.
   *
   * @throws PlatformRefusal, PlatformInaccessible
   */
  refresh(grant: Grant, exchangeId?: string): Promise<TokenPair>;
  /**
   * Fetches one page of a data set. The first call (without `cursor`) only makes the platform prepare the first page,
   * and returns no records.
   * @throws PlatformRefusal
   */
  fetch(grant: Grant, organizationId: string, dataType: DataType, cursor?: string): Promise<FetchedPage>;
  /**
   * Sends a record to the platform or asks for the result. Data sets fetched later contain the created record.
   * @throws PlatformRefusal, PlatformInaccessible
   */
  push(grant: Grant, organizationId: string, record: PushedRecord): Promise<PushAnswer>;
}

/** Why a platform refuses a request, as the API returns it in the `statusText` of a connection's error. */
export type RefusalReason =
  /**
   * The grant has been revoked or has expired, or its refresh token has already been used. The end customer has to
   * authorize the connection again.
   */
  | 'GrantRefused'
  /** The client id, secret or environment is wrong, which the end customer cannot fix. */
  | 'ApplicationRefused'
  | 'WrongOrganization'
  | 'PlatformUnavailable'
  | 'PlatformRateLimited';

/** The HTTP status that describes a refusal. */
export const STATUS_OF_REFUSAL: Readonly<Record<RefusalReason, number>> = {
  GrantRefused: 401,
  ApplicationRefused: 401,
  WrongOrganization: 403,
  PlatformUnavailable: 503,
  PlatformRateLimited: 429,
};

/** Thrown when a platform refuses a request or fails. The message never contains a token. */
export class PlatformRefusal extends Error {
  override readonly name = 'PlatformRefusal';

  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Thrown when the platform does not allow the service to call its endpoint. No token has been used. An authorization is
 * answered with 403, and a push operation fails with status code 403.
 */
export class PlatformInaccessible extends Error {
  override readonly name = 'PlatformInaccessible';
}
