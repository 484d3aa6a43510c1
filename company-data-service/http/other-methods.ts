import type { Api } from './context';
import { methodNotAllowed } from './errors/errors';

/**
 * Answers 405 with `Allow` for the methods that an existing path does not have, before the API key is checked. Call
 * this function before you add the routes, and `register` afterwards.
 */
export function answerOtherMethods(app: Api): { register(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
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
        // Refuse in `onRequest`, so that the body is not read.
        app.route({ method: others, url, onRequest: refuse, handler: refuse, schema: { hide: true } });
      }
    },
  };
}
