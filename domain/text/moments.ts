/**
 * A moment for readers in many places: `2026-11-20 23:55 UTC`. Workflow code knows no other zone.
 *
 * @param iso ISO 8601, UTC
 */
export function moment(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** `45 s`, `12 min`, `3.5 h`: as exact as an estimate deserves. */
export function duration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}
