import type { Volume } from './estimate';
import type { ManifestRow } from './manifest';

/**
 * The volume of a manifest of which nothing has been moved or frozen yet.
 *
 * @param recordsInTotal of all companies together, where their rows do not say; absent: nobody has said
 */
export function volumeOf(rows: readonly ManifestRow[], recordsInTotal?: number): Volume {
  const families = new Map<string, number>();
  for (const { family } of rows) if (family !== null) families.set(family, (families.get(family) ?? 0) + 1);
  const records = rows.flatMap(({ expectedInvoices }) => expectedInvoices ?? []);
  const given = records.reduce((sum, count) => sum + count, 0);
  const silent = rows.length - records.length;
  return {
    companies: rows.length,
    records: silent > 0 && recordsInTotal !== undefined ? Math.max(given, recordsInTotal) : given,
    companiesWithoutVolume: recordsInTotal === undefined ? silent : 0,
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
