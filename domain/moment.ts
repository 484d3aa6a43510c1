/**
 * A moment for readers in many places: `2026-11-20 23:55 UTC`. Workflow code knows no other zone.
 *
 * @param iso ISO 8601, UTC
 */
export function moment(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
