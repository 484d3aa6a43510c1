import type { Volume } from './estimate';
import type { ManifestRow } from './manifest';

/** The volume of a manifest of which nothing has been moved or frozen yet. */
export function volumeOf(rows: readonly ManifestRow[]): Volume {
  const families = new Map<string, number>();
  for (const { family } of rows) if (family !== null) families.set(family, (families.get(family) ?? 0) + 1);
  const records = rows.flatMap(({ expectedInvoices }) => expectedInvoices ?? []);
  return {
    companies: rows.length,
    records: records.reduce((sum, count) => sum + count, 0),
    companiesWithoutVolume: rows.length - records.length,
    largestCompany: largest(records),
    largestFamily: largest(families.values()),
    darkSince: null,
  };
}

function largest(counts: Iterable<number>): number {
  let most = 0;
  for (const count of counts) most = Math.max(most, count);
  return most;
}
