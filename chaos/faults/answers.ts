/** Answers that faults give instead of the service. */
import type { InjectedResponse } from '../cluster';

/** Returns the page of a proxy or a captive portal. */
export const page = (status: number, title: string): InjectedResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html><head><title>${title}</title></head><body><h1>${title}</h1><hr>proxy</body></html>`,
});

/** Returns an answer that says it is JSON. */
export const json = (status: number, body: string, headers: Record<string, string> = {}): InjectedResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
