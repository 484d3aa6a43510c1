/** Supplies the client's application with its secret, which is encrypted in this browser. */
import type { Action } from './api';
import type { App } from './app';

export function openApplication(_app: App, _action: Action): void {
  throw new Error('not available yet');
}
