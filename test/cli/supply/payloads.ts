/** The payloads in a workflow's history, for tests that search it for secrets. */
import type { Payload } from '@temporalio/common';

/** Decodes the base64 data of every payload in JSON text. The data of an encrypted payload remains encrypted. */
export function decodePayloads(json: string): string {
  return json.replace(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
}

/** Returns every payload in a history, at any depth. */
export function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
