import { randomUUID } from 'node:crypto';
import type { Platform as PlatformEntry } from '../../../platforms/platforms';

/** Invoices of an organization that was linked through the sandbox's consent page. */
const INVOICES = 10;

/** What the platform hands out when a company consents: a fresh pair of tokens that are good. */
export function consentOf(platform: PlatformEntry, organizationId: string): Record<string, string> {
  const { requiredFields, organizationField } = platform;
  const suffix = requiredFields.includes(organizationField) ? randomUUID() : organizationId;
  const token = `sbx-ok-${INVOICES}.${suffix}~${randomUUID()}`;
  return Object.fromEntries(
    requiredFields.map((field) => {
      if (field === organizationField) return [field, organizationId];
      return [field, field.endsWith('Token') ? token : 'sandbox'];
    }),
  );
}
