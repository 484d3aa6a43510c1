import { createHash } from 'node:crypto';
import type { ManifestRow } from '../../domain/companies/manifest';
import { digestedRow } from '../../domain/supply/supplied-rows';

/** Computes the SHA-256 of a manifest's rows in order, without credentials. Decisions about a manifest contain it. */
export class ManifestDigest {
  readonly #hash = createHash('sha256');

  add(row: ManifestRow): void {
    this.#hash.update(digestedRow(row));
  }

  /** Returns the digest in hexadecimal. Call it once, after the last row. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** Returns the {@link ManifestDigest} of rows that are in memory. */
export function manifestDigest(rows: Iterable<ManifestRow>): string {
  const digest = new ManifestDigest();
  for (const row of rows) digest.add(row);
  return digest.hex();
}
