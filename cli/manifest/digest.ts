import { createHash } from 'node:crypto';

import type { ManifestRow } from '../../domain/companies/manifest';

/**
 * What a decision about the manifest is bound to: SHA-256, in hex, of the rows in their order, without credentials.
 *
 * Two manifests that say the same have the same digest, whatever their format, encoding or order of columns.
 */
export class ManifestDigest {
  readonly #hash = createHash('sha256');

  add({ row, reference, name, organization, expectedInvoices, wave, family, named }: ManifestRow): void {
    const ids = named ? [named.companyId, named.connectionId] : [];
    const fields = [row, reference, name, organization, expectedInvoices, wave, family, ...ids];
    this.#hash.update(`${JSON.stringify(fields)}\n`);
  }

  /** To be asked once, after the last row. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** The same of rows that are at hand. */
export function manifestDigest(rows: Iterable<ManifestRow>): string {
  const digest = new ManifestDigest();
  for (const row of rows) digest.add(row);
  return digest.hex();
}
