/** Builds the paths of the service's endpoints, and follows the links of lists without leaving the service. */

/** The parts of the service's base URL. */
export interface BaseUrl {
  readonly origin: string;
  readonly host: string;
  /** The path before every endpoint: empty, or with a leading slash and no trailing slash. */
  readonly basePath: string;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** @throws {TypeError} if `baseUrl` is not an http or https URL */
export function parseAddress(baseUrl: string): BaseUrl {
  const { origin, host, pathname, protocol } = new URL(baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`${baseUrl} is not an http or https URL`);
  return { origin, host, basePath: pathname.replace(/\/+$/, '') };
}

/** Builds the path and query of an endpoint. Segments are URL-encoded; undefined parameters are omitted. */
export function pathTo({ basePath }: BaseUrl, segments: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return `${basePath}${path}${search.size === 0 ? '' : `?${search.toString()}`}`;
}

/**
 * Resolves a link from the response to `currentPath`.
 *
 * The service's own links start with `/` and are relative to the base URL. Other implementations send absolute URLs,
 * paths from the root or only a query. Host, port and path must match, because the request carries the API key and the
 * pages of a list differ only in their query. The scheme is ignored, because a service behind a proxy that terminates
 * TLS builds http links.
 *
 * @returns path and query; undefined if the link is invalid or does not point to a page of the same list
 */
export function followLink(address: BaseUrl, currentPath: string, href: string): string | undefined {
  const { origin, host, basePath } = address;
  const relativeToBase = href.startsWith('/') && !href.startsWith('//') && !href.startsWith(`${basePath}/`);
  const target = relativeToBase ? `${basePath}${href}` : href;
  const current = `${origin}${currentPath}`;
  if (!URL.canParse(target, current)) return undefined;
  const url = new URL(target, current);
  const isSameList = url.host === host && url.pathname === new URL(current).pathname;
  return isSameList ? `${url.pathname}${url.search}` : undefined;
}
