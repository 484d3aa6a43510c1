/** Headers of all answers, except answers to requests that cannot be read. A route can replace them. */
import type { Api } from './api';

/** The page loads only its own files, and no other page can frame it. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** A report contains names that other people chose, so it cannot run scripts, load anything or send forms. */
export const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'; " +
  "form-action 'none'; sandbox";

const HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
};

const ONE_YEAR = 'max-age=31536000; includeSubDomains';

/** @param isHttps true if browsers reach the portal with HTTPS, possibly through a proxy */
export function addHeaders(app: Api, isHttps: boolean): void {
  const headers = isHttps ? { ...HEADERS, 'strict-transport-security': ONE_YEAR } : HEADERS;
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers);
  });
}
