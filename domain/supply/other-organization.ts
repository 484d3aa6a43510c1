/** The finding about a credential that belongs to another company than its row says. */
import { inQuotes } from './findings';
import type { RowReader } from './row-reader';

/**
 * Reports a credential whose organization is not that of its company in the manifest.
 *
 * @param field the platform's name for the id of an organization
 */
export function reportOtherOrganization(reader: RowReader, reference: string, field: string): void {
  const message = `${field} differs from the ${field} of ${inQuotes(reference)} in the manifest`;
  const advice = 'check whether the rows of one of the two files have shifted by one';
  reader.error(field, 'credential-of-other-organization', message, advice);
}
