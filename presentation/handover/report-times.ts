/** Times in the handover report. They are in UTC, which the head of the report says once. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats the UTC date of a time as `22 Nov`. */
export function dayText(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1] ?? ''}`;
}

/**
 * Formats a time as `22 Nov 23:14`, or as `22 Nov 2026 23:14`.
 *
 * @param iso ISO 8601, UTC
 * @param year a year that is not shown, because the head of the report shows it; by default every year is shown
 */
export function timeText(iso: string, year?: string): string {
  const ofTime = iso.slice(0, 4);
  return [dayText(iso), ...(ofTime === year ? [] : [ofTime]), iso.slice(11, 16)].join(' ');
}
