/**
 * Says how current it is that companies must reconnect. An end customer can reconnect at any time, and the service is
 * asked only at intervals.
 *
 * @param checkedAt when the service was asked last, as text; null if it never was
 */
export function reconnectionsText(checkedAt: string | null): string {
  return checkedAt === null
    ? 'It has not been checked whether they have reconnected'
    : `Last checked whether they have reconnected: ${checkedAt}`;
}
