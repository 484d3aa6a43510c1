/** Looks up what the Company Data Service already has of a row, and reads what a connection says about itself. */
import type { Company, CompanyDataClient, Connection } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The tag of a company that names the migration and the row it was created for. */
export const ROW_TAG = 'ferryRow';

export function rowTag(migrationId: string, row: number): string {
  return `${migrationId}/${row}`;
}

/** Tells whether a company was created for a row of this migration. */
export function isOfMigration({ tags }: Company, migrationId: string): boolean {
  return tags?.[ROW_TAG]?.startsWith(`${migrationId}/`) ?? false;
}

/** Finds the company that was created for a row by its tag, because idempotency keys expire. */
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
  /** The only connection that matches; null: any. */
  readonly connectionId: string | null;
  /** Leaves a connection out when any matches. */
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

/** Tells whether the service answered 404: it never had this, or has deleted it. */
export function isGone(error: unknown): error is CompanyDataError {
  if (!(error instanceof CompanyDataError)) return false;
  const failure = error.toFailure();
  return failure.kind === 'answer' && failure.status === 404;
}

type ConnectionError = Connection['dataConnectionErrors'][number];

/** Returns the organization that a connection gives access to; undefined: the platform does not say. */
export function organizationOf({ connectionInfo }: Connection): string | undefined {
  return connectionInfo?.['organizationId'];
}

/** Returns the latest unresolved error of a connection. */
export function activeError(connection: Connection): ConnectionError | undefined {
  return connection.dataConnectionErrors.findLast(({ status }) => status !== 'Resolved');
}

/**
 * Tells whether the service has accepted a credential. `Linked` is not enough: when it refuses a credential, a
 * connection that an older one linked stays linked, and gets a new error.
 *
 * @param before the connection before the credential was sent
 * @param after the answer to the authorization
 */
export function isAccepted(before: Connection, after: Connection): boolean {
  if (after.status !== 'Linked') return false;
  const erroredOn = activeError(after)?.erroredOnUtc;
  return erroredOn === undefined || erroredOn === activeError(before)?.erroredOnUtc;
}
