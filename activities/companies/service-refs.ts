/**
 * Finds the company and the connection that the service already has for a row, and tells whether the service has lost
 * the company or the connection.
 */
import { isDeepStrictEqual } from 'node:util';
import { v5 as uuidv5 } from 'uuid';
import { CompanyDataError, type Company, type CompanyDataClient, type Connection } from '../../company-data-client';

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The key of the tag that shows for which migration and row a company was created at the service. */
export const ROW_TAG = 'ferryRow';

export function rowTag(migrationId: string, row: number | ''): string {
  return `${migrationId}/${row}`;
}

/** The UUIDv5 namespace from which idempotency keys are derived. It must never change. */
const KEY_NAMESPACE = '5f0f3f5e-54a7-4f0b-9d0a-6f2d3b1c7a90';

/** Returns the idempotency key of a creation. The same name always results in the same key. */
export function idempotencyKey(name: string): string {
  return uuidv5(name, KEY_NAMESPACE);
}

/** Returns whether a company was created for a row of this migration. */
export function belongsToMigration({ tags }: Company, migrationId: string): boolean {
  return tags?.[ROW_TAG]?.startsWith(`${migrationId}/`) ?? false;
}

/** Maximum number of companies that the service lists in one response. */
const PAGE_SIZE = 5_000;

/** Lists the companies that were created for rows of a migration, with one request per 5,000 companies. */
export async function* companiesOfMigration(
  service: CompanyDataClient,
  migrationId: string,
  options: CallOptions,
): AsyncGenerator<{ readonly row: number; readonly company: Company }> {
  const prefix = rowTag(migrationId, '');
  const filter = { tagPrefix: { name: ROW_TAG, prefix }, pageSize: PAGE_SIZE };
  for await (const company of service.companies(filter, options)) {
    const row = Number(company.tags?.[ROW_TAG]?.slice(prefix.length));
    // People can change tags at the service, so the text after the prefix might not be a row.
    if (Number.isSafeInteger(row) && row > 0) yield { row, company };
  }
}

/** Finds the company that was created for a row. Searches for its tag, because idempotency keys expire. */
export async function findCompanyByTag(
  service: CompanyDataClient,
  tag: string,
  options: CallOptions,
): Promise<Company | undefined> {
  for await (const company of service.companies({ tags: { [ROW_TAG]: tag } }, options)) return company;
  return undefined;
}

interface ConnectionQuery {
  readonly platformKey: string;
  /** The id of the only connection that matches; null if any connection can match. */
  readonly connectionId: string | null;
  /** Excludes connections from the search. Used only if `connectionId` is null. */
  readonly isExcluded?: (connection: Connection) => boolean;
}

/** Finds a company's connection to a platform. */
export async function findConnection(
  service: CompanyDataClient,
  companyId: string,
  { platformKey, connectionId, isExcluded = () => false }: ConnectionQuery,
  options: CallOptions,
): Promise<Connection | undefined> {
  for await (const connection of service.connections(companyId, options)) {
    if (connection.integrationKey !== platformKey) continue;
    if (connectionId === null ? !isExcluded(connection) : connection.id === connectionId) return connection;
  }
  return undefined;
}

/** Returns whether the service answered 404, because it never had the object or has deleted it. */
export function isGone(error: unknown): error is CompanyDataError {
  return refusalStatusOf(error) === 404;
}

/** Returns the HTTP status with which the service refused a call; undefined if anything else has failed. */
export function refusalStatusOf(error: unknown): number | undefined {
  if (!(error instanceof CompanyDataError)) return undefined;
  const failure = error.toFailure();
  return failure.kind === 'response' && failure.isFromService ? failure.status : undefined;
}

export const COMPANY_GONE =
  'the service no longer has this company, probably because the service was restored to an older state';

/**
 * Asks the service whether it no longer has a company.
 *
 * @throws {CompanyDataError} if the service does not answer the question
 */
export async function isCompanyGone(
  service: CompanyDataClient,
  companyId: string,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    await service.getCompany(companyId, options);
    return false;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

type ConnectionError = Connection['dataConnectionErrors'][number];

/** Returns the organization that a connection gives access to; undefined if the platform does not report it. */
export function organizationOf({ connectionInfo }: Connection): string | undefined {
  return connectionInfo?.['organizationId'];
}

/** Returns whether a connection reports this organization or none. */
export function hasRightOrganization(connection: Connection, expected: string): boolean {
  return [undefined, expected].includes(organizationOf(connection));
}

/** Describes a connection that gives access to an organization other than the expected one. */
export function wrongOrganizationText(connection: Connection, expected: string): string {
  return `the platform reports organization ${organizationOf(connection)}, but the manifest says ${expected}`;
}

/** Returns why a connection is not linked. */
export function linkProblemOf(connection: Connection): string {
  return activeError(connection)?.errorMessage ?? `the connection is ${connection.status}`;
}

/** Returns the latest unresolved error of a connection; undefined if there is none. */
export function activeError(connection: Connection): ConnectionError | undefined {
  return connection.dataConnectionErrors.findLast(isActive);
}

/** Returns when a connection was last authorized; null if the service does not say it, or if it is not a time. */
export function authorizedAtOf({ connectionInfo }: Pick<Connection, 'connectionInfo'>): Date | null {
  const at = new Date(connectionInfo?.['lastAuthorized'] ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

/**
 * Returns the error that shows what happened to a credential; undefined if there is none. An error from before the send
 * intent concerns an older credential. An error without a time counts as later than the send intent.
 */
export function errorSince(connection: Connection, sentAt: Date): ConnectionError | undefined {
  const error = activeError(connection);
  return error && Date.parse(error.erroredOnUtc ?? '') < sentAt.getTime() ? undefined : error;
}

/**
 * Returns whether the service has accepted a credential. The status `Linked` is not enough. If an older credential has
 * linked the connection and the service refuses the new credential, the connection stays linked and gets a new error.
 *
 * A refusal can leave no trace if the service replaces an error without a time by an identical one. The credential then
 * counts as accepted, so that it is never sent again; the verification shows whether data is synced.
 *
 * @param before the connection before the credential was sent
 * @param after the answer to the authorization
 */
export function isAccepted(before: Connection, after: Connection): boolean {
  if (after.status !== 'Linked') return false;
  const known = before.dataConnectionErrors.filter(isActive);
  return after.dataConnectionErrors.filter(isActive).every((error) => {
    const index = known.findIndex((each) => isSameError(each, error));
    // Each error from before matches only one error, because a new error can be identical.
    if (index !== -1) known.splice(index, 1);
    return index !== -1;
  });
}

const isActive = ({ status }: ConnectionError): boolean => status !== 'Resolved';

/** Returns whether two errors are the same. The service need not report the time of an error. */
function isSameError(one: ConnectionError, other: ConnectionError): boolean {
  return one.erroredOnUtc === undefined || other.erroredOnUtc === undefined
    ? isDeepStrictEqual(one, other)
    : one.erroredOnUtc === other.erroredOnUtc;
}
