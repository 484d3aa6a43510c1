/**
 * The sandbox's test credentials. The text of a credential determines how the platform behaves. See docs/sandbox.md.
 */
import { isDataType, type DataType } from '../data-types';
import type { Grant, RefusalReason } from '../platform';

/** The behaviour of the sandbox for one company. */
interface Behaviour {
  /** Number of synced invoices. The other data types, except the chart of accounts, are in proportion. */
  readonly invoices: number;
  /** The platform refuses the first `times` requests with the credential. */
  readonly refused?: { readonly reason: RefusalReason; readonly message: string; readonly times: number };
  /** The access token works, but the refresh is refused with this message. */
  readonly refreshRefused?: string;
  /** The access token belongs to another organization. */
  readonly otherOrganization?: true;
  /**
   * The grant ends halfway through a data set or a push: the page that reaches the halfway point is refused, and so is
   * the request for the result of a push.
   */
  readonly expiresDuringSync?: true;
  /** The platform's endpoint is not accessible to the service. */
  readonly inaccessible?: true;
  /** A data type that this organization does not have. */
  readonly without?: DataType;
  /** Delay added to every identification, refresh, page and push. */
  readonly delayMs?: number;
}

export interface SandboxCredential extends Behaviour {
  /** The credential without the rotation suffix. It does not change while the grant is valid. */
  readonly root: string;
  /** Distinguishes credentials with the same behaviour. */
  readonly suffix?: string;
  /** The user of the token, if the suffix contains one: `anna` in `anna/3`. */
  readonly user?: string;
  /** The application that the grant is bound to, if the credential specifies one. */
  readonly clientId?: string;
}

const refusal = (reason: RefusalReason, message: string, times = Infinity) => ({
  reason,
  message,
  times,
});

const UNAVAILABLE = 'The platform is unavailable.';
const RATE_LIMITED = 'The platform has received too many requests.';

const BEHAVIOURS: readonly (readonly [RegExp, (match: readonly string[]) => Behaviour])[] = [
  [/^ok-(\d+)$/, ([, n]) => ({ invoices: Number(n) })],
  // The platform delivers only some of its records, without an error. Only a caller that knows the expected number
  // notices.
  [/^short-(\d+)-of-\d+$/, ([, n]) => ({ invoices: Number(n) })],
  [/^revoked$/, () => ({ invoices: 0, refused: refusal('GrantRefused', 'The grant was revoked.') })],
  [/^expired$/, () => ({ invoices: 0, refused: refusal('GrantRefused', 'The grant has expired.') })],
  [/^used$/, () => ({ invoices: 0, refreshRefused: 'The refresh token has already been used.' })],
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
    /^without-([a-zA-Z]+)-ok-(\d+)$/,
    ([, type = '', n]) => ({ invoices: Number(n), ...(isDataType(type) && { without: type }) }),
  ],
  [/^inaccessible$/, () => ({ invoices: 0, inaccessible: true })],
];

const UNKNOWN: Behaviour = { invoices: 0, refused: refusal('GrantRefused', 'The credential is unknown.') };

/** `sbx-<behaviour>[.<suffix>][@<client id>][~<rotation>]` */
const FORM = /^sbx-(?<behaviour>[a-zA-Z0-9-]+)(?:\.(?<suffix>[^@~]+))?(?:@(?<clientId>[^~]+))?(?:~(?<rotation>.+))?$/;

/** Returns the token that represents the grant: the refresh token if there is one, otherwise the access token. */
export function tokenOf({ credential }: Grant): string {
  return credential['refreshToken'] ?? credential['accessToken'] ?? '';
}

/** Parses a token. The sandbox refuses a token that is not a test credential, as a real platform would. */
export function parseCredential(token: string): SandboxCredential {
  const parts = FORM.exec(token)?.groups;
  const root = token.replace(/~.*$/, '');
  if (!parts) return { ...UNKNOWN, root };
  const { behaviour = '', suffix, clientId } = parts;
  const user = suffix?.includes('/') === true ? suffix.split('/', 1)[0] : undefined;
  return {
    ...behaviourOf(behaviour),
    root,
    ...(suffix && { suffix }),
    ...(user && { user }),
    ...(clientId && { clientId }),
  };
}

function behaviourOf(text: string): Behaviour {
  for (const [form, behaviour] of BEHAVIOURS) {
    const match = form.exec(text);
    if (match) return behaviour(match);
  }
  return UNKNOWN;
}
