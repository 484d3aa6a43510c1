/** Parses a row into the company or the credential that it describes. */
import { isUnusualOrganization, unusualOrganization } from '../preflight/company-findings';
import { alteredNameAdvice, storedName, type ManifestRow, type ExistingCompany } from '../companies/manifest';
import { isMoment, momentText } from '../text/sentences';
import type { Platform } from '../../platforms/platforms';
import { authorizationFields, COMPANY_ID, CONNECTION_ID, credentialFields } from './columns';
import { inQuotes } from './findings';
import type { RowReader } from './row-reader';

/** The service stores the reference as a tag of the company. A tag has at most 100 characters. */
const MAX_REFERENCE = 100;
const MAX_NAME = 250;
const MAX_ORGANIZATION = 250;
/**
 * In characters. Long enough for access tokens that are signed documents (JWTs), which have a few thousand characters.
 */
export const MAX_CREDENTIAL_FIELD = 16_384;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses a company from its manifest row. Reports errors, and returns null if there are any. */
export function parseCompany(row: number, reader: RowReader, platform: Platform): ManifestRow | null {
  const reference = parseReference(reader);
  const organization = reader.requiredText(platform.organizationField, { maxLength: MAX_ORGANIZATION });
  const expectedInvoices = reader.wholeNumber('expectedInvoices', 0);
  const wave = reader.wholeNumber('wave', 1);
  const existing = parseServiceIds(reader);
  const name = parseName(reader, existing !== null);
  const user = reader.text('family', { maxLength: MAX_ORGANIZATION });

  if (organization !== null && isUnusualOrganization(organization, platform)) {
    const { code, message, advice } = unusualOrganization(organization, platform);
    reader.warn(platform.organizationField, code, message, advice);
  }
  if (reference === null || name === null || organization === null || !reader.isValid) return null;
  const family = platform.family === 'shop' ? organization.toLowerCase() : user;
  const company = { row, reference, name, organization, expectedInvoices, wave, family };
  return existing === null ? company : { ...company, existing };
}

/** Parses the service's ids of an existing company. Reports errors. Returns null if there is no valid company id. */
function parseServiceIds(reader: RowReader): ExistingCompany | null {
  const companyId = parseId(reader, COMPANY_ID);
  const connectionId = parseId(reader, CONNECTION_ID);
  if (companyId !== null) return { companyId, connectionId };
  if (connectionId !== null && !reader.has(COMPANY_ID)) {
    const message = `there is a ${CONNECTION_ID} without a ${COMPANY_ID}`;
    reader.error(CONNECTION_ID, 'missing-value', message, `add the ${COMPANY_ID} of its company`);
  }
  return null;
}

function parseId(reader: RowReader, field: string): string | null {
  const text = reader.text(field, { maxLength: 100 });
  if (text === null || UUID.test(text)) return text?.toLowerCase() ?? null;
  const message = `${field} is ${inQuotes(text)}; the service's ids are UUIDs`;
  reader.error(field, 'invalid-id', message, 'copy the id from the service, or leave the field empty');
  return null;
}

function parseReference(reader: RowReader): string | null {
  return reader.requiredText('reference', { maxLength: MAX_REFERENCE });
}

/** @param exists whether the service has the company already, because it then keeps its name */
function parseName(reader: RowReader, exists: boolean): string | null {
  const name = reader.requiredText('name', { maxLength: MAX_NAME, freeText: true });
  if (name === null || exists) return name;
  const stored = storedName(name);
  if (stored === '') {
    const message = `the service cannot store any character of the name ${inQuotes(name)}`;
    reader.error('name', 'name-empty', message, "use a name made of A-Z, a-z, 0-9, spaces and -',&@.?!");
  } else if (stored !== name) {
    const message = `the name ${inQuotes(name)} will be stored as ${inQuotes(stored)}`;
    reader.warn('name', 'name-altered', message, alteredNameAdvice(name));
  }
  return name;
}

/** A company's credential as the client supplied it. */
export interface ParsedCredential {
  /** The reference of the company. */
  readonly reference: string;
  /**
   * When the client's application obtained the credential. ISO 8601 in UTC. If the row has no `obtainedAt`, it is the
   * time that was given for the whole file, or else the time of the file's last change, because the credential cannot
   * be newer than the file.
   */
  readonly obtainedAt: string;
  /** The authorization body, with the platform's field names. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns whether a manifest row has any field of a credential, complete or not. */
export function hasCredential(reader: RowReader, platform: Platform): boolean {
  return credentialFields(platform).some((field) => reader.has(field));
}

/** The times that decide when a credential was obtained. */
export interface CredentialTimes {
  /** An `obtainedAt` after this time is an error. */
  readonly now: Date;
  /** The time of the option `--obtained-at`, for rows without `obtainedAt`. */
  readonly obtainedAt?: Date;
  /** A time for rows without `obtainedAt`, which replaces the time of the file. Rows can also have their own time. */
  readonly forOtherRows?: Date;
  /** Advice on how to give one time for all rows without `obtainedAt`; absent if that is not possible. */
  readonly forAllRows?: string;
}

/** Parses a credential. Reports errors, and returns null if there are any. */
export function parseCredential(
  reader: RowReader,
  platform: Platform,
  times: CredentialTimes,
): ParsedCredential | null {
  const reference = parseReference(reader);
  const fields: Record<string, string> = {};
  for (const field of authorizationFields(platform)) {
    const required = platform.requiredFields.includes(field);
    const rule = { maxLength: MAX_CREDENTIAL_FIELD, secret: field !== platform.organizationField };
    const value = required ? reader.requiredText(field, rule) : reader.text(field, rule);
    if (value !== null) fields[field] = value;
  }
  const obtainedAt = parseObtainedAt(reader, times);
  if (reference === null || obtainedAt === null || !reader.isValid) return null;
  return { reference, obtainedAt, fields };
}

/** OAuth 2 is newer. This bound also refuses years that Postgres cannot read, such as year 0 and before. */
const EARLIEST_TOKEN = Date.parse('2000-01-01T00:00:00Z');

const ENTER_TIME = 'enter the time at which the token was obtained';

function parseObtainedAt(
  reader: RowReader,
  { now, obtainedAt: given, forOtherRows, forAllRows }: CredentialTimes,
): string | null {
  if (!reader.has('obtainedAt')) {
    const at = given ?? forOtherRows ?? beforeNow(reader.fileModifiedAt, now);
    const problem = obtainedAtProblem(at, now);
    if (problem === null) return at.toISOString();
    // Some programs that unpack archives set the time of a file to 1980.
    const instead = momentText(at.toISOString());
    const message = `obtainedAt is missing, and the time that is used instead (${instead}) is ${problem}`;
    const advice = forAllRows === undefined ? ENTER_TIME : `${forAllRows}; or, in each row, ${ENTER_TIME}`;
    reader.error('obtainedAt', 'invalid-time', message, advice);
    return null;
  }
  if (given !== undefined) {
    const message = 'the field obtainedAt is filled in, but the option --obtained-at also sets a time';
    reader.error('obtainedAt', 'invalid-time', message, 'leave --obtained-at out, or clear the field obtainedAt');
    return null;
  }
  const text = reader.text('obtainedAt', { maxLength: 100 });
  if (text === null) return null;

  const at = parseTime(text);
  if (at === null) {
    const message = 'obtainedAt is not a valid time with a time zone';
    const advice = 'write the time like 2026-03-01T14:30:00Z or 2026-03-01T14:30:00+01:00';
    reader.error('obtainedAt', 'invalid-time', message, advice);
    return null;
  }
  const problem = obtainedAtProblem(at, now);
  if (problem !== null) {
    reader.error('obtainedAt', 'invalid-time', `obtainedAt is ${problem}`, ENTER_TIME);
    return null;
  }
  return at.toISOString();
}

/** Parses an ISO 8601 time with a zone. Returns null for any other text, and for days that do not exist. */
function parseTime(text: string): Date | null {
  const time = text.toUpperCase().replace(/([+-]\d\d)$/, '$1:00');
  if (!isMoment(time)) return null;
  // `Date.parse` accepts 30 February and returns a day in March.
  const day = time.slice(0, 10);
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) ? new Date(time) : null;
}

/** How far the clock of one machine can be ahead of the clock of another, in milliseconds. */
const CLOCK_TOLERANCE_MS = 30_000;

/** Returns {@link obtainedAtProblem} for a time that the clock of another machine can have given. */
export function obtainedElsewhereProblem(at: Date, now: Date): string | null {
  return obtainedAtProblem(at, new Date(now.getTime() + CLOCK_TOLERANCE_MS));
}

/** Returns why a credential cannot have been obtained at this time; null if it can. */
export function obtainedAtProblem(at: Date, now: Date): string | null {
  if (at > now) return 'in the future';
  return at.getTime() < EARLIEST_TOKEN ? 'before the year 2000' : null;
}

/** Returns the earlier time. A file's time can be in the future, but no credential was obtained in the future. */
function beforeNow(time: Date, now: Date): Date {
  return time > now ? now : time;
}
