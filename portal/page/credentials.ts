/** Supplies credentials: they are checked and encrypted in this browser. */
import type { Action, Company } from './api';
import type { App } from './app';

export function openCredentials(_app: App, _action: Action, _selected: readonly Company[]): void {
  throw new Error('not available yet');
}
