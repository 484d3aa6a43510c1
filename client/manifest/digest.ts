import { createHash } from 'node:crypto';

import type { ManifestRow } from '../../domain/manifest';

/**
 * What a decision about the manifest is bound to: SHA-256, in hex, of the rows in their order, without credentials.
 *
 * Two manifests that say the same have the same digest, whatever their format, encoding or order of columns.
 */
export function manifestDigest(rows: readonly ManifestRow[]): string {
  const hash = createHash('sha256');
  for (const { row, reference, name, organization, expectedInvoices, wave, family, named } of rows) {
    const ids = named ? [named.companyId, named.connectionId] : [];
    hash.update(`${JSON.stringify([row, reference, name, organization, expectedInvoices, wave, family, ...ids])}\n`);
  }
  return hash.digest('hex');
}
