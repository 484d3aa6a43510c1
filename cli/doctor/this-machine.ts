/** What lies on this machine: the version of Node.js, the signing key, the clock. */
import type { Configured } from './configured';
import type { ClockReading, Examined } from './finding';
import { notChecked, ok, problem } from './finding';

/** @param needed as package.json says it: `>=20.19` */
export function examineNode(version: string, needed: string): Examined {
  const [least = ''] = /[\d.]+/.exec(needed) ?? [];
  if (comparable(version) >= comparable(least)) return ok('Node.js', version);
  return problem('Node.js', `${version} is too old`, `install ${least} or newer`);
}

/** Two numbers of a version, as one. */
function comparable(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000 + minor;
}

export function examineSigningKey(signingKey: Configured<'signingKey'>): Examined {
  if ('found' in signingKey) return signingKey.found;
  const { by, publicKey } = signingKey.value;
  return ok('signing key', `of ${by}, public key ${publicKey}`);
}

/** More would be seen: in windows, in "not before" and "valid until". */
const MOST_SKEW_MS = 10_000;

export function examineClock(clocks: readonly ClockReading[]): Examined {
  if (clocks.length === 0) return notChecked('clock', 'neither the database nor the service answered');
  const wrong = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > MOST_SKEW_MS);
  const told = (some: readonly ClockReading[]): string =>
    some.map(({ whose, aheadMs }) => `${whose} ${difference(aheadMs)}`).join(', ');
  if (wrong.length === 0) return ok('clock', told(clocks));
  return problem('clock', told(wrong), 'set the clocks by NTP: windows open by that of the database');
}

function difference(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (seconds === 0) return 'agrees';
  return `is ${seconds} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}
