/** Checks this machine: the version of Node.js, the signing key and the clock. */
import { notChecked, ok, problem, type CheckResult, type ClockReading, type ConfigPart } from './check-result';

/** @param needed the version range in package.json, for example `>=20.19` */
export function checkNodeVersion(version: string, needed: string): CheckResult {
  const [minimum = ''] = /[\d.]+/.exec(needed) ?? [];
  if (comparable(version) >= comparable(minimum)) return ok('Node.js', version);
  return problem('Node.js', `${version} is too old`, `install ${minimum} or newer`);
}

/** Returns the major and minor version as one number. */
function comparable(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000 + minor;
}

export function checkSigningKey(signingKey: ConfigPart<'signingKey'>): CheckResult {
  if ('unusable' in signingKey) return signingKey.unusable;
  const { by, publicKey } = signingKey.value;
  return ok('signing key', `belongs to ${by}, public key ${publicKey}`);
}

/** The maximum clock skew. A larger skew affects windows, and the `validUntil` of decisions. */
const MAX_SKEW_MS = 10_000;

export function checkClocks(clocks: readonly ClockReading[]): CheckResult {
  if (clocks.length === 0)
    return notChecked('clock', 'not compared, because neither the database nor the service has reported its time');
  const wrong = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > MAX_SKEW_MS);
  const text = (readings: readonly ClockReading[]): string =>
    readings.map(({ whose, aheadMs }) => `${whose} ${difference(aheadMs)}`).join(', ');
  if (wrong.length === 0) return ok('clock', text(clocks));
  return problem(
    'clock',
    text(wrong),
    'synchronize the clocks with NTP, because windows, deadlines and the times of credentials depend on them',
  );
}

/**
 * Returns by how many milliseconds the clock of a server is at least ahead of this machine's clock, or behind it
 * (negative). Returns 0 if the whole seconds of the `Date` header and the time of the request can explain the
 * difference.
 *
 * @param date the header; all times are in milliseconds since 1970
 */
export function aheadByDateHeader(date: number, sentAt: number, receivedAt: number): number {
  const [least, most] = [date - receivedAt, date + 1_000 - sentAt];
  return least > 0 ? least : Math.min(most, 0);
}

/**
 * Returns the time by the other clock that differs least from this machine's clock. If even that clock differs much,
 * this machine's clock is probably wrong.
 *
 * @returns milliseconds since 1970; this machine's time if there is no other clock
 */
export function sharedTimeMs(clocks: readonly ClockReading[]): number {
  const [best] = clocks.map(({ aheadMs }) => aheadMs).sort((a, b) => Math.abs(a) - Math.abs(b));
  return Date.now() + (best ?? 0);
}

function difference(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (seconds === 0) return 'agrees';
  return `is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
}
