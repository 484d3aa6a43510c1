/**
 * Says when it was last checked whether companies still have to reconnect. An end customer can reconnect at any time,
 * and the service is asked only at intervals.
 *
 * @param checkedAt when the service was asked last, as text; null if it never was
 */
export function reconnectionsText(checkedAt: string | null): string {
  return checkedAt === null
    ? 'Reconnections have not been checked yet'
    : `Reconnections were last checked at ${checkedAt}`;
}
