/** The log of workers' requests to the service. The checker compares it with the ledger and the service's database. */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';

/** One line of the log, as JSON. It is written when the answer is known or lost, so lines are not ordered by `at`. */
export interface RequestLogEntry {
  /** When the request arrived at the proxy, by the clock of this machine, as an ISO date. */
  readonly at: string;
  /** The name of the worker. */
  readonly worker: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly idempotencyKey: string | null;
  /** The status of the service's answer, or of the answer that a fault gave instead; null if there was no answer. */
  readonly status: number | null;
  /** True if a fault gave an answer instead of the service. */
  readonly injected: boolean;
  /** True if the service received the request or might have received it. */
  readonly forwarded: boolean;
  /** True if the complete answer was written to the worker's connection. */
  readonly delivered: boolean;
  /** {@link credentialDigest} of the body of a `PUT .../authorization`; null for every other request. */
  readonly credential: string | null;
  readonly tookMs: number;
}

/**
 * Returns the SHA-256 of a credential, in hexadecimal. The input of the hash is the JSON of the credential's fields,
 * with the keys in code unit order and without spaces.
 *
 * @param fields the body of `PUT .../authorization`
 */
export function credentialDigest(fields: Readonly<Record<string, string>>): string {
  const sorted = Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

/** Returns the digest of the credential in a request; null if it has none. Never returns a part of the credential. */
export function credentialIn({ method, path, body }: { method: string; path: string; body: string }): string | null {
  if (method !== 'PUT' || !/\/authorization(\?|$)/.test(path)) return null;
  try {
    return credentialDigest(JSON.parse(body) as Record<string, string>);
  } catch {
    return createHash('sha256').update(body).digest('hex'); // the request is not as documented
  }
}

/** Returns a function that appends entries to the file. Each entry is in the file when the function returns. */
export function requestLogAt(file: string): (entry: RequestLogEntry) => void {
  return (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
}
