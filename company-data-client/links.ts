/** Where the service is: the origin that requests go to, and the path before every path of the contract. */
export interface ServiceAddress {
  readonly origin: string;
  readonly host: string;
  /** Empty, or beginning with `/` and not ending with it. */
  readonly basePath: string;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** @throws {TypeError} when it is not a URL of http or https. */
export function parseAddress(baseUrl: string): ServiceAddress {
  const { origin, host, pathname, protocol } = new URL(baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`${baseUrl} is not an http or https URL`);
  return { origin, host, basePath: pathname.replace(/\/+$/, '') };
}

/** Path and query of an endpoint. */
export function pathTo({ basePath }: ServiceAddress, segments: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return `${basePath}${path}${search.size === 0 ? '' : `?${search.toString()}`}`;
}

/**
 * Path and query of a link that the service gave in the answer to `currentPath`; `undefined` when it leads to another
 * host.
 *
 * The contract's links begin with `/` and are relative to the base URL; other services give whole URLs, paths from the
 * root, or only a query. The scheme is not compared: behind a proxy that ends TLS a service takes itself for http.
 */
export function followLink(address: ServiceAddress, currentPath: string, href: string): string | undefined {
  const { origin, host, basePath } = address;
  const relativeToBase = href.startsWith('/') && !href.startsWith('//') && !href.startsWith(`${basePath}/`);
  const target = relativeToBase ? `${basePath}${href}` : href;
  const current = `${origin}${currentPath}`;
  if (!URL.canParse(target, current)) return undefined;
  const url = new URL(target, current);
  return url.host === host ? `${url.pathname}${url.search}` : undefined;
}
