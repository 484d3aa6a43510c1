/** What a connection of the Company Data Service says of itself: whose books are behind it, and what its platform complains of. */
import type { Connection } from '../../company-data-client';

type ConnectionError = Connection['dataConnectionErrors'][number];

/** The organization whose books are behind it; undefined: the platform does not say. */
export function organizationOf({ connectionInfo }: Connection): string | undefined {
  return connectionInfo?.['organizationId'];
}

/** The platform's latest complaint that is not resolved. */
export function activeError(connection: Connection): ConnectionError | undefined {
  return connection.dataConnectionErrors.findLast(({ status }) => status !== 'Resolved');
}

/** A refused credential never replaces an accepted one: the connection stays linked, with a complaint that is new. */
export function isAcceptance(before: Connection, answered: Connection): boolean {
  if (answered.status !== 'Linked') return false;
  const complaint = activeError(answered)?.erroredOnUtc;
  return complaint === undefined || complaint === activeError(before)?.erroredOnUtc;
}
