/** The sandbox's test credentials: what the platform does stands in the credential. See docs/sandbox.md. */
import { isDataType, type DataType } from '../data-types';
import type { Grant, RefusalReason } from '../platform';

/** What the sandbox does with a company, as its credential says. */
interface Behaviour {
  /** How many invoices are synced. Other data types follow in proportion. */
  readonly invoices: number;
  /** Refused when the platform is asked who it is, the first `times` times. */
  readonly refused?: { readonly reason: RefusalReason; readonly message: string; readonly times: number };
  /** The access token is good, the refresh is refused, with this message. */
  readonly refreshRefused?: string;
  /** The access token opens the books of somebody else. */
  readonly otherOrganization?: true;
  /** The grant ends when half of a data set has been fetched. */
  readonly expiresDuringSync?: true;
  /** The platform's endpoint is closed to the service. */
  readonly inaccessible?: true;
  /** A data type that this organization does not have. */
  readonly without?: DataType;
  /** Added to everything the platform does. */
  readonly delayMs?: number;
}

export interface SandboxCredential extends Behaviour {
  /** The credential without what rotation has appended: stays the same for as long as the grant lives. */
  readonly root: string;
  /** What makes the credential unique among others of the same behaviour. */
  readonly suffix?: string;
  /** Whose token it is, where the suffix says so: `anna/3`. */
  readonly user?: string;
  /** The application that the grant is bound to, where the credential names one. */
  readonly clientId?: string;
}

const refusal = (reason: RefusalReason, message: string, times = Infinity) => ({
  reason,
  message,
  times,
});

const UNAVAILABLE = 'The platform is unavailable.';
const RATE_LIMITED = 'The platform has received too many requests.';

/** One line for each test credential: how it is written, and what it makes the platform do. */
const BEHAVIOURS: readonly (readonly [RegExp, (match: readonly string[]) => Behaviour])[] = [
  [/^ok-(\d+)$/, ([, n]) => ({ invoices: Number(n) })],
  // The platform has more than it hands out, and does not say so: only who knows what to expect can notice.
  [/^short-(\d+)-of-\d+$/, ([, n]) => ({ invoices: Number(n) })],
  [/^revoked$/, () => ({ invoices: 0, refused: refusal('GrantRefused', 'The grant was revoked.') })],
  [/^expired$/, () => ({ invoices: 0, refused: refusal('GrantRefused', 'The grant has expired.') })],
  [/^used$/, () => ({ invoices: 0, refreshRefused: 'The refresh token was used already.' })],
  [/^refresh-refused$/, () => ({ invoices: 0, refreshRefused: 'The refresh token was refused.' })],
  [
    /^other-application$/,
    () => ({
      invoices: 0,
      refused: refusal('ApplicationRefused', 'The grant belongs to another application.'),
    }),
  ],
  [/^wrong-organization-(\d+)$/, ([, n]) => ({ invoices: Number(n), otherOrganization: true })],
  [/^expires-during-sync-(\d+)$/, ([, n]) => ({ invoices: Number(n), expiresDuringSync: true })],
  [/^unavailable$/, () => ({ invoices: 0, refused: refusal('PlatformUnavailable', UNAVAILABLE) })],
  [
    /^unavailable-(\d+)-ok-(\d+)$/,
    ([, times, n]) => ({ invoices: Number(n), refused: refusal('PlatformUnavailable', UNAVAILABLE, Number(times)) }),
  ],
  [/^rate-limited$/, () => ({ invoices: 0, refused: refusal('PlatformRateLimited', RATE_LIMITED) })],
  [
    /^rate-limited-(\d+)-ok-(\d+)$/,
    ([, times, n]) => ({ invoices: Number(n), refused: refusal('PlatformRateLimited', RATE_LIMITED, Number(times)) }),
  ],
  [/^slow-(\d+)-ok-(\d+)$/, ([, delayMs, n]) => ({ invoices: Number(n), delayMs: Number(delayMs) })],
  [
    /^without-([a-z]+)-ok-(\d+)$/,
    ([, type = '', n]) => ({ invoices: Number(n), ...(isDataType(type) && { without: type }) }),
  ],
  [/^inaccessible$/, () => ({ invoices: 0, inaccessible: true })],
];

const UNKNOWN: Behaviour = { invoices: 0, refused: refusal('GrantRefused', 'The credential is not known.') };

/** `sbx-<behaviour>[.<suffix>][@<client id>][~<rotation>]` */
const FORM = /^sbx-(?<behaviour>[a-z0-9-]+)(?:\.(?<suffix>[^@~]+))?(?:@(?<clientId>[^~]+))?(?:~(?<rotation>.+))?$/;

/** The token that stands for the grant: the refresh token where there is one. */
export function tokenOf({ credential }: Grant): string {
  return credential['refreshToken'] ?? credential['accessToken'] ?? '';
}

/** Reads what a token asks of the sandbox. What is not a test credential is refused, as in life. */
export function parseCredential(token: string): SandboxCredential {
  const parts = FORM.exec(token)?.groups;
  const root = token.replace(/~.*$/, '');
  if (!parts) return { ...UNKNOWN, root };
  const { behaviour = '', suffix, clientId } = parts;
  const user = suffix?.includes('/') === true ? suffix.split('/', 1)[0] : undefined;
  return {
    ...behave(behaviour),
    root,
    ...(suffix && { suffix }),
    ...(user && { user }),
    ...(clientId && { clientId }),
  };
}

function behave(text: string): Behaviour {
  for (const [form, behaviour] of BEHAVIOURS) {
    const match = form.exec(text);
    if (match) return behaviour(match);
  }
  return UNKNOWN;
}
