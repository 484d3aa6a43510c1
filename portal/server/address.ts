/** The addresses on which the portal may listen, and from which its pages come. */
import { isLoopback } from '../../security/codec-server';

/**
 * Thrown when the portal would serve HTTP to other machines, because the tokens of sessions could then be read on the
 * network. Also thrown when the public URL is missing or cannot be used.
 */
export class UnsafeAddress extends Error {
  override readonly name = 'UnsafeAddress';

  /** @param advice what the operator of the portal can do */
  constructor(
    message: string,
    readonly advice: string,
  ) {
    super(message);
  }
}

const HTTPS = 'to serve HTTPS, use --certificate and --key, or --behind-proxy if a proxy terminates TLS';
const PUBLIC_URL = 'set TOKENFERRY_PORTAL_URL to the address that clients open, for example https://portal.example.com';

interface Address {
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly hasTls: boolean;
  /** True if only a proxy that terminates TLS can reach the portal. */
  readonly behindProxy: boolean;
}

/** @throws {UnsafeAddress} */
export function assertSafeAddress({ host, publicUrl, hasTls, behindProxy }: Address): void {
  if (!hasTls && !behindProxy && !isLoopback(host))
    throw new UnsafeAddress(
      `without a certificate or --behind-proxy, the portal listens only on a loopback address such as 127.0.0.1, not on ${host}`,
      HTTPS,
    );
  if (publicUrl === undefined) {
    if (behindProxy)
      throw new UnsafeAddress('behind a proxy, the portal needs its public URL, TOKENFERRY_PORTAL_URL', PUBLIC_URL);
    return;
  }
  const { protocol, hostname, pathname, search, hash, username } = new URL(publicUrl);
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new UnsafeAddress(
      `the public URL of the portal, TOKENFERRY_PORTAL_URL, must begin with https:, not ${protocol}`,
      `${PUBLIC_URL}; ${HTTPS}`,
    );
  if (pathname !== '/' || search !== '' || hash !== '' || username !== '')
    throw new UnsafeAddress(
      'the public URL of the portal, TOKENFERRY_PORTAL_URL, must contain no path, query, fragment or user name',
      `give the portal its own host name, and ${PUBLIC_URL}`,
    );
}

/** Returns the origins of the portal's pages. For a loopback address, includes `127.0.0.1` and `localhost`. */
export function originsOf(url: string): readonly string[] {
  const { origin, hostname } = new URL(url);
  if (!isLoopback(hostname)) return [origin];
  return [origin, ...['127.0.0.1', 'localhost'].map((name) => origin.replace(hostname, name))];
}
