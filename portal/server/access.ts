/**
 * Authorizes every request, before its body is read. A route says in its `config` who may use it; a route that does not
 * say so cannot be added.
 *
 * Cross-site requests: a browser sends the cookie only with requests of pages of the same site (`SameSite=Strict`). In
 * addition, a request that changes something, and has no bearer token, needs a header that pages of other origins
 * cannot send. If the browser names an origin, it must be an origin of the portal.
 */
import type { FastifyRequest } from 'fastify';
import type { Api, SignedIn } from './api';
import type { PortalContext } from './context';
import type { PortalDatabase } from './database';
import { forbidden, noSession, notFound, tooMany } from './errors';
import { concurrencyLimiter, limiter } from './limits';
import { tokenIn } from './session-token';

const PAGE_HEADER = 'x-tokenferry-portal';
const SAFE_METHODS = new Set(['GET', 'HEAD']);

export function authorize(app: Api, { db, limits, origins }: PortalContext): void {
  const countSession = limiter(app, limits.requestsPerSession, ({ signedIn }) => signedIn.hash.toString('base64'));
  const countInProgress = concurrencyLimiter(limits.requestsAtOnce, () =>
    tooMany('You have too many requests in progress.', 5),
  );
  const countRefusal = limiter(app, limits.refusalsPerAddress);

  app.decorateRequest('signedIn');
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.access === undefined) throw new Error(`the route ${url} does not say who may use it`);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw notFound();
    const { access, isStream } = request.routeOptions.config;
    const token = tokenIn(request);
    if (!SAFE_METHODS.has(request.method) && token?.sentAs !== 'header') assertFromPage(request, origins);
    if (access === 'everyone') return;
    if (access !== 'session' && access !== 'client') throw forbidden('You may not do this.');

    const session = token && (await db.session(token.hash));
    if (!session) {
      if (token) await countRefusal(request);
      throw noSession();
    }
    request.signedIn = { ...session, hash: token.hash };
    await countSession(request);
    if (isStream !== true) countInProgress(token.hash.toString('base64'), reply);
    if (access === 'client' && session.role !== 'client')
      throw forbidden('Your invitation is read-only.', 'Ask your contact for an invitation with the role client.');
  });
}

/**
 * Asserts that a session has not ended since its request was authorized. Call this if the database has returned
 * nothing, because the database returns nothing for a session that has ended.
 *
 * @throws {PortalError} 401
 */
export async function assertNotEnded(db: PortalDatabase, { hash }: SignedIn): Promise<void> {
  if ((await db.session(hash)) === undefined) throw noSession();
}

/** Returns the error for pages of other sites, and for the portal's page at another address than its public URL. */
const fromOtherSite = () =>
  forbidden(
    "The request comes from a page that is not at the portal's address.",
    'Open the portal at the address in your invitation. If this happens again, tell your contact.',
  );

/** @throws {PortalError} 403 */
function assertFromPage({ headers }: FastifyRequest, origins: ReadonlySet<string>): void {
  if (headers[PAGE_HEADER] !== '1') throw forbidden(`The header ${PAGE_HEADER}: 1 is missing.`);
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !origins.has(origin)) throw fromOtherSite();
  if (site !== undefined && site !== 'same-origin') throw fromOtherSite();
  if (headers.cookie !== undefined && origin === undefined && site === undefined)
    throw forbidden('The request does not say from which page it comes.', 'Use a current browser, or a bearer token.');
}

/**
 * Asserts that the request has the header `Origin` or `Sec-Fetch-Site`, which usually only browsers send.
 * `assertFromPage` checks their values. A session in a cookie is only for browsers, and a page of another site must not
 * sign a person in to another person's migration.
 *
 * @param programAdvice tells the author of a program what to do
 * @throws {PortalError} 403
 */
export function assertNamesOrigin(
  { headers }: FastifyRequest,
  programAdvice = 'A program must ask for a token: send "as": "token".',
): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined)
    throw forbidden('The request does not say from which page it comes.', programAdvice);
}
