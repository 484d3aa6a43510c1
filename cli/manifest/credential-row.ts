import { DateTime } from 'luxon';

import type { Platform } from '../../platforms/platforms';
import { Secret } from '../../security/secret';
import type { CheckedRow } from './checked-row';
import { authorizationFields, credentialFields } from './columns';
import { readReference } from './company-row';

/** Access tokens that are signed documents have some thousand characters. */
const MAX_CREDENTIAL_FIELD = 16_384;

/** A company's credential as the client handed it over. */
export interface SuppliedCredential {
  /** The company it belongs to. */
  readonly reference: string;
  /**
   * When the client's application obtained it, ISO 8601 in UTC. Where the file does not say: when the file was last
   * changed, the latest moment at which it can have been.
   */
  readonly obtainedAt: string;
  /** The authorization body, field by field as the platform's entry names them. */
  readonly fields: Secret<Record<string, string>>;
}

/** Whether a row of the manifest comes with a credential, be it an incomplete one. */
export function hasCredential(checked: CheckedRow, platform: Platform): boolean {
  return credentialFields(platform).some((field) => checked.has(field));
}

/**
 * Reads a credential; `null` where something is wrong with it (reported).
 *
 * @param now later times cannot be an `obtainedAt`
 */
export function readCredential(checked: CheckedRow, platform: Platform, now: Date): SuppliedCredential | null {
  const reference = readReference(checked);
  const fields: Record<string, string> = {};
  for (const field of authorizationFields(platform)) {
    const required = platform.requiredFields.includes(field);
    const rule = { maxLength: MAX_CREDENTIAL_FIELD, secret: field !== platform.organizationField };
    const value = required ? checked.requiredText(field, rule) : checked.text(field, rule);
    if (value !== null) fields[field] = value;
  }
  const obtainedAt = readObtainedAt(checked, now);
  if (reference === null || obtainedAt === null || !checked.sound) return null;
  return { reference, obtainedAt, fields: new Secret(fields) };
}

function readObtainedAt(checked: CheckedRow, now: Date): string | null {
  const text = checked.text('obtainedAt', { maxLength: 100 });
  if (text === null) return checked.fileModifiedAt.toISOString();

  const time = DateTime.fromISO(text, { setZone: true });
  if (!time.isValid || !/T.*(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text)) {
    const message = 'obtainedAt is not a time with its zone';
    checked.error(
      'obtainedAt',
      'invalid-time',
      message,
      'write it like 2026-03-01T14:30:00Z or 2026-03-01T14:30:00+01:00',
    );
    return null;
  }
  if (time.toMillis() > now.getTime()) {
    checked.error('obtainedAt', 'invalid-time', 'obtainedAt lies in the future', 'write when the token was obtained');
    return null;
  }
  return time.toUTC().toJSDate().toISOString();
}
