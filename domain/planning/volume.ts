import type { Volume } from './estimate';

/** What the rows of a manifest say of the volume. */
export type ManifestVolume = Omit<Volume, 'darkSince'>;

/**
 * The volume of a manifest of which nothing has been moved or frozen yet.
 *
 * @param recordsInTotal of all companies together, where their rows do not say; absent: nobody has said
 */
export function volumeOf(said: ManifestVolume, recordsInTotal?: number): Volume {
  const { companies, records, companiesWithoutVolume, largestCompany, largestFamily } = said;
  return {
    companies,
    records: companiesWithoutVolume > 0 ? Math.max(records, recordsInTotal ?? 0) : records,
    companiesWithoutVolume: recordsInTotal === undefined ? companiesWithoutVolume : 0,
    largestCompany,
    largestFamily,
    darkSince: null,
  };
}
