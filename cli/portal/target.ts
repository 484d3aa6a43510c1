/**
 * Finds out from the command line and the environment whether `ferry` works with a portal (as a client) or with
 * Temporal.
 */
import { CommandFailed } from '../shared/errors';

/** The variable that replaces `--portal`. */
export const PORTAL_VARIABLE = 'TOKENFERRY_PORTAL';

export interface PortalTarget {
  /** The link of an invitation, or the address of a portal. Not checked yet. */
  readonly link: string;
  /** True if the person typed `--portal`. Suggested commands then need it as well. */
  readonly isOption: boolean;
  /** The other arguments. */
  readonly args: readonly string[];
}

/**
 * Returns the portal; null without `--portal` if `TOKENFERRY_PORTAL` is absent or empty, because the command then works
 * with Temporal and the database, with the rights of support. An empty or missing value of `--portal` must not give
 * these rights, so it is returned as a link, which {@link parseLink} refuses.
 */
export function findPortal(args: readonly string[], env: NodeJS.ProcessEnv): PortalTarget | null {
  const end = args.indexOf('--');
  const index = args.findIndex((arg, at) => (end === -1 || at < end) && /^--portal(=|$)/.test(arg));
  const typed = args[index];
  if (typed === undefined) {
    const link = env[PORTAL_VARIABLE];
    return link === undefined || link === '' ? null : { link, isOption: false, args };
  }
  const isOneWord = typed.startsWith('--portal=');
  const link = isOneWord ? typed.slice('--portal='.length) : (args[index + 1] ?? '');
  return { link, isOption: true, args: [...args.slice(0, index), ...args.slice(index + (isOneWord ? 1 : 2))] };
}

export interface PortalLink {
  /** For example `https://portal.example`. */
  readonly origin: string;
  /** The token of the invitation; null if the link has none. */
  readonly invitation: string | null;
  /** True if the person must sign in with an account, which only the page can do. */
  readonly isForAccount: boolean;
  /** The provider's fingerprint that the link contains; null if it has none. */
  readonly providerFingerprint: string | null;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Parses a link.
 *
 * @param adviceAtPrompt the advice if the link was pasted at a prompt, where quotes and variables do not help
 * @throws CommandFailed, with a message that does not quote the link, because the link can contain an invitation
 */
export function parseLink(text: string, adviceAtPrompt?: string): PortalLink {
  if (text.trim() === '')
    throw new CommandFailed(
      'the link to the portal is empty',
      adviceAtPrompt ??
        'nothing was done; specify the link of your invitation, or the address of the portal. If a variable should contain the link, check the variable',
    );
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new CommandFailed(
      'the portal must be an address that begins with https://',
      adviceAtPrompt ?? 'use the link of your invitation, in single quotes, or the address of the portal',
    );
  const { protocol, hostname, origin, hash } = new URL(text);
  if (protocol === 'http:' && !LOOPBACK.includes(hostname))
    throw new CommandFailed(
      `the connection to ${origin} is not encrypted, so other people could read what you send`,
      'nothing was sent; use the address that begins with https://',
    );
  const fragment = new URLSearchParams(hash.slice(1));
  const isForAccount = fragment.get('sign-in') === 'openid';
  return {
    origin,
    invitation: fragment.get('invitation'),
    isForAccount,
    providerFingerprint: fragment.get('provider'),
  };
}
