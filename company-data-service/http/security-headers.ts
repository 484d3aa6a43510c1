import type { Api } from './context';

/** Answers are data for whoever asked, and pages without scripts: nothing is loaded, framed, guessed at or kept. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The address of a link page is what lets a company authorize.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** On every answer; a route may say otherwise. `Strict-Transport-Security` is for whoever adds TLS in front. */
export function secureHeaders(app: Api): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
}
