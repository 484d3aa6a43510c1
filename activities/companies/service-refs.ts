/** What the Company Data Service has of a row: looked up before anything is done twice. */
import type { Company, CompanyDataClient, Connection } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The tag by which a company says which row of which migration it was created for. */
export const ROW_TAG = 'ferryRow';

export function rowTag(migrationId: string, row: number): string {
  return `${migrationId}/${row}`;
}

/** Whether a company was created for a row of this migration. */
export function isOfMigration({ tags }: Company, migrationId: string): boolean {
  return tags?.[ROW_TAG]?.startsWith(`${migrationId}/`) ?? false;
}

/** The company that was created for a row, found by its tag: idempotency keys expire. */
export async function companyOfRow(
  service: CompanyDataClient,
  tag: string,
  options: CallOptions,
): Promise<Company | undefined> {
  return firstOf(service.companies({ tags: { [ROW_TAG]: tag } }, options));
}

/** The company's connection to a platform: the one of this id, or any that nobody else's books are behind. */
export async function connectionTo(
  service: CompanyDataClient,
  companyId: string,
  { platformKey, connectionId, isOthers = () => false }: WantedConnection,
  options: CallOptions,
): Promise<Connection | undefined> {
  for await (const connection of service.connections(companyId, options)) {
    if (connection.integrationKey !== platformKey) continue;
    if (connectionId === null ? !isOthers(connection) : connection.id === connectionId) return connection;
  }
  return undefined;
}

interface WantedConnection {
  readonly platformKey: string;
  /** Null: it has not been named. */
  readonly connectionId: string | null;
  readonly isOthers?: (connection: Connection) => boolean;
}

async function firstOf<T>(values: AsyncIterable<T>): Promise<T | undefined> {
  for await (const value of values) return value;
  return undefined;
}

/** Whether the service says that there is no such thing, or no longer. */
export function isGone(error: unknown): error is CompanyDataError {
  if (!(error instanceof CompanyDataError)) return false;
  const failure = error.toFailure();
  return failure.kind === 'answer' && failure.status === 404;
}
