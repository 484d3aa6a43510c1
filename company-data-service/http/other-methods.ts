import type { Api } from './context';
import { methodNotAllowed } from './errors';

/**
 * Answers 405 with `Allow` on every path that exists, for the methods it does not have: before any key is looked at.
 * Call it before the routes are added, and `register` after.
 */
export function answerOtherMethods(app: Api): { register(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(url, methods);
  });
  return {
    register() {
      for (const [url, methods] of [...methodsByPath]) {
        const allowed = [...methods];
        const others = app.supportedMethods.filter((method) => !allowed.includes(method));
        const refuse = async () => {
          throw methodNotAllowed(allowed);
        };
        // In the first hook, so that no body is read.
        app.route({ method: others, url, onRequest: refuse, handler: refuse, schema: { hide: true } });
      }
    },
  };
}
