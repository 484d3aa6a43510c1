/** Connects the commands that only read, and reads companies. */
import type { Company, CompanyFilter } from '../../portal/client/api';
import { CompanySchema } from '../../portal/contract/migration-view';
import { sayOnce, validated, withPortal, type Connection } from './connection';
import type { PortalContext } from './context';

/** Long enough for a restart of the portal, in milliseconds. */
const READ_WITHIN_MS = 30_000;

/**
 * Runs the work of a command that only reads, like {@link withPortal}. Gives up sooner than a command that sends
 * something, because a person is waiting for the answer and can run the command again.
 *
 * @throws CommandFailed
 */
export function withPortalToRead<Result>(
  context: PortalContext,
  migrationId: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return withPortal(context, migrationId, work, { say: sayOnce(context), withinMs: READ_WITHIN_MS });
}

/**
 * Reads the companies that match, page by page.
 *
 * @throws CommandFailed
 */
export async function* eachCompany({ api, say }: Connection, filter: CompanyFilter = {}): AsyncGenerator<Company> {
  for await (const company of api.eachCompany(filter, say)) yield validated(CompanySchema, company);
}
